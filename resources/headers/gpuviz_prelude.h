#pragma once
#include <stdint.h>
#include <limits.h>
#include <float.h>
#include <math.h>
typedef unsigned char u_char; typedef unsigned short ushort;
typedef unsigned int uint; typedef unsigned long ulong;
namespace std {
using ::size_t; using ::ptrdiff_t;
@NAMES@
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr const T& clamp(const T& x, const T& low, const T& high)
{ return x < low ? low : high < x ? high : x; }
template <class T> constexpr void swap(T& a, T& b) { T c = a; a = b; b = c; }
}
