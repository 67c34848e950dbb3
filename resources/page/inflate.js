"use strict";
// The text that deflate (RFC 1951) packed, given in base64: at once, and in browsers of any age.
const gpuvizInflate = (packed) => {
  const input = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  let made = new Uint8Array(16 * input.length + 64), size = 0, at = 0, held = 0, bits = 0;

  const take = (count) => {
    for (; bits < count; bits += 8) held |= input[at++] << bits;
    const value = held & ((1 << count) - 1);
    held >>>= count;
    bits -= count;
    return value;
  };
  const room = (more) => {
    if (size + more <= made.length) return;
    const larger = new Uint8Array(2 * (size + more));
    larger.set(made);
    made = larger;
  };

  // Codes by their lengths: how many there are of each, and what they stand for in order.
  const codes = (lengths) => {
    const counts = new Array(16).fill(0), next = new Array(16).fill(0), symbols = [];
    for (const length of lengths) if (length) counts[length]++;
    for (let length = 1; length < 15; length++) next[length + 1] = next[length] + counts[length];
    lengths.forEach((length, symbol) => { if (length) symbols[next[length]++] = symbol; });
    return {counts, symbols};
  };
  const symbol = ({counts, symbols}) => {
    for (let length = 1, code = 0, first = 0, index = 0; length < 16; length++) {
      code |= take(1);
      const count = counts[length];
      if (code - first < count) return symbols[index + code - first];
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Error("the pictures of this page are damaged");
  };

  // What a code adds bits to: [least value, number of bits].
  const ranges = (least, count, each) => {
    const found = [];
    for (let code = 0; code < count; code++) {
      const more = Math.max(0, Math.floor(code / each) - 1);
      found.push([least, more]);
      least += 1 << more;
    }
    return found;
  };
  const lengths = [...ranges(3, 28, 4), [258, 0]], distances = ranges(1, 30, 2);
  const value = ([least, more]) => least + take(more);

  const fixed = () => [
    codes([...Array(288).keys()].map((n) => (n < 144 ? 8 : n < 256 ? 9 : n < 280 ? 7 : 8))),
    codes(new Array(30).fill(5)),
  ];
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  const own = () => {
    const literals = take(5) + 257, every = literals + take(5) + 1, told = new Array(19).fill(0);
    for (let left = take(4) + 4, n = 0; n < left; n++) told[ORDER[n]] = take(3);
    const tree = codes(told), found = [];
    while (found.length < every) {
      const what = symbol(tree);
      const last = found[found.length - 1];
      if (what < 16) found.push(what);
      else if (what === 16) found.push(...new Array(3 + take(2)).fill(last));
      else found.push(...new Array(what === 17 ? 3 + take(3) : 11 + take(7)).fill(0));
    }
    return [codes(found.slice(0, literals)), codes(found.slice(literals))];
  };

  for (let end = false; !end;) {
    end = take(1) === 1;
    const kind = take(2);
    if (kind === 0) {
      held = bits = 0;
      const count = input[at] | (input[at + 1] << 8);
      room(count);
      made.set(input.subarray(at + 4, at + 4 + count), size);
      at += 4 + count;
      size += count;
      continue;
    }
    const [literal, distance] = kind === 1 ? fixed() : own();
    for (let what = symbol(literal); what !== 256; what = symbol(literal)) {
      room(258);
      if (what < 256) {
        made[size++] = what;
        continue;
      }
      const count = value(lengths[what - 257]), from = size - value(distances[symbol(distance)]);
      for (let n = 0; n < count; n++) made[size++] = made[from + n];
    }
  }
  return new TextDecoder().decode(made.subarray(0, size));
};
