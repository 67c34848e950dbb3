#pragma once
#include <stdint.h>
#include <limits.h>
#include <float.h>
#include <math.h>
typedef unsigned char u_char; typedef unsigned short ushort;
typedef unsigned int uint; typedef unsigned long ulong;
#define register
#define __asm__ asm
#define __volatile__ volatile
#ifndef CLOCKS_PER_SEC
#define CLOCKS_PER_SEC 1000000L
#endif
template <class A, class B, class = decltype(double(A())), class = decltype(double(B()))>
inline double pow(A a, B b) { return pow(double(a), double(b)); }
template <class T> inline T __shfl(T v, int lane, int width = 32)
{ return __shfl_sync(__activemask(), v, lane, width); }
template <class T> inline T __shfl_up(T v, unsigned by, int width = 32)
{ return __shfl_up_sync(__activemask(), v, by, width); }
template <class T> inline T __shfl_down(T v, unsigned by, int width = 32)
{ return __shfl_down_sync(__activemask(), v, by, width); }
template <class T> inline T __shfl_xor(T v, int lanes, int width = 32)
{ return __shfl_xor_sync(__activemask(), v, lanes, width); }
inline int __any(int p) { return __any_sync(__activemask(), p); }
inline int __all(int p) { return __all_sync(__activemask(), p); }
inline unsigned __ballot(int p) { return __ballot_sync(__activemask(), p); }
namespace std {
using ::size_t; using ::ptrdiff_t;
@NAMES@
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr const T& clamp(const T& x, const T& low, const T& high)
{ return x < low ? low : high < x ? high : x; }
template <class T> constexpr void swap(T& a, T& b) { T c = a; a = b; b = c; }
}
