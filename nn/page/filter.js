// SPDX-License-Identifier: Apache-2.0
// Reads the text form of filters, as strata/filters/parse.h describes it, into functions on rows:
//
//   { kind, tag, keys: [{ isInteger, bytes, characters }], path, dtype, shape, size }
//
// Texts are compared as the bytes of UTF-8, one character of a "byte text" for each. A byte that is no UTF-8 stands in
// the page as U+DC80 to U+DCFF.
function toBytes(text) {
  let bytes = "";
  for (const character of text) {
    const code = character.codePointAt(0);
    if (code >= 0xdc80 && code <= 0xdcff) {
      bytes += String.fromCharCode(code - 0xdc00);
    } else if (code < 0x80) {
      bytes += character;
    } else if (code < 0x800) {
      bytes += String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 63));
    } else if (code < 0x10000) {
      bytes += String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    } else {
      bytes += String.fromCharCode(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63),
                                   0x80 | (code & 63));
    }
  }
  return bytes;
}

// The codes of the characters, and the byte at which each begins. Bytes that are no UTF-8 get codes beyond Unicode.
function toCharacters(bytes) {
  const codes = [];
  const starts = [];
  for (let at = 0; at < bytes.length;) {
    const head = bytes.charCodeAt(at);
    const more = head < 0x80 ? 0 : head >= 0xf0 ? 3 : head >= 0xe0 ? 2 : 1;
    let code = more === 0 ? head : head & (0x3f >> more);
    let valid = more === 0 || (head >= 0xc2 && head < 0xf8 && at + more < bytes.length);
    for (let i = 1; valid && i <= more; ++i) {
      const next = bytes.charCodeAt(at + i);
      valid = (next & 0xc0) === 0x80;
      code = (code << 6) | (next & 0x3f);
    }
    const overlong = code < [0, 0x80, 0x800, 0x10000][more];
    const surrogate = code >= 0xd800 && code <= 0xdfff;
    valid = valid && !overlong && !surrogate && code <= 0x10ffff;
    codes.push(valid ? code : 0x110000 + head);
    starts.push(at);
    at += valid ? 1 + more : 1;
  }
  return { codes, starts };
}

// True if the pattern fits the whole sequence; both are given by their lengths. The shortest run for each star, and
// back to the latest one only, which is enough.
function matchWildcards(patternLength, length, isStar, fits) {
  let p = 0;
  let i = 0;
  let afterStar = 0;
  let starEnd = 0;
  while (i < length) {
    if (p < patternLength && isStar(p)) {
      afterStar = ++p;
      starEnd = i;
    } else if (p < patternLength && fits(p, i)) {
      ++p;
      ++i;
    } else if (afterStar !== 0) {
      p = afterStar;
      i = ++starEnd;
    } else {
      return false;
    }
  }
  while (p < patternLength && isStar(p)) ++p;
  return p === patternLength;
}

// A pattern of paths, given as byte text. Throws { what, at }, with the position of a byte.
class Glob {
  constructor(bytes) {
    this.bytes = bytes;
    const { codes, starts } = toCharacters(bytes);
    this.codes = codes;
    this.starts = [...starts, bytes.length];
    this.at = 0;
    this.segments = [];
    if (!codes.length) return;
    this.segments.push(this.readSegment());
    while (this.at < codes.length) {
      ++this.at;
      this.segments.push(this.readSegment());
    }
  }

  is(character, at = this.at) { return this.codes[at] === character.charCodeAt(0); }

  readSegment() {
    const begin = this.starts[this.at];
    const items = [];
    while (this.at < this.codes.length && !this.is("/")) items.push(this.readItem());
    const text = this.bytes.slice(begin, this.starts[this.at]);
    if (text === "**") return { isStar: true };
    if (text.includes("**")) throw { what: "`**` stands for whole keys, between slashes", at: begin + text.indexOf("**") };
    return { text, items: /[*?[]/.test(text) ? items : null };
  }

  readItem() {
    if (this.is("[")) return this.readClass();
    const code = this.codes[this.at++];
    if (code === 0x2a) return { isStar: true };
    return code === 0x3f ? { ranges: [[0, Infinity]] } : { ranges: [[code, code]] };
  }

  readClass() {
    const begin = this.at++;
    const isNegated = this.is("!");
    if (isNegated) ++this.at;
    const ranges = [];
    do {
      if (this.at >= this.codes.length) throw { what: "the closing `]` is missing", at: this.starts[begin] };
      const first = this.codes[this.at++];
      let last = first;
      if (this.at + 1 < this.codes.length && this.is("-") && !this.is("]", this.at + 1)) {
        last = this.codes[this.at + 1];
        this.at += 2;
      }
      if (last < first) throw { what: "the range is empty: its ends are the wrong way round", at: this.starts[begin + 1] };
      ranges.push([first, last]);
    } while (this.at >= this.codes.length || !this.is("]"));
    ++this.at;
    return { ranges, isNegated };
  }

  static fitsItem(item, code) {
    return item.ranges.some(([first, last]) => first <= code && code <= last) !== Boolean(item.isNegated);
  }

  static fitsKey(segment, key) {
    if (segment.items === null) return segment.text === key.bytes;
    key.codes ??= toCharacters(key.bytes).codes;
    return matchWildcards(segment.items.length, key.codes.length, (p) => segment.items[p].isStar,
                          (p, i) => Glob.fitsItem(segment.items[p], key.codes[i]));
  }

  matches(keys) {
    return matchWildcards(this.segments.length, keys.length, (s) => this.segments[s].isStar,
                          (s, i) => Glob.fitsKey(this.segments[s], keys[i]));
  }
}

// What a backslash at the position of a text begins: [the character, how long it is written], or null.
function readEscape(text, at) {
  const next = text[at + 1];
  if (text[at] !== "\\" || next === undefined) return null;
  if ("'\"\\".includes(next)) return [next, 2];
  if ("ntr".includes(next)) return ["\n\t\r"["ntr".indexOf(next)], 2];
  const hex = /^x([0-9A-Fa-f]{2})/.exec(text.slice(at + 1, at + 4));
  return hex ? [String.fromCharCode(parseInt(hex[1], 16)), 4] : null;
}

const fits64 = (integer) => BigInt.asIntN(64, integer) === integer;
const isIntegerText = (text) => /^(0|-?[1-9][0-9]*)$/.test(text) && fits64(BigInt(text));

// The keys of a printed path, given as byte text; null if it is none.
function parsePath(bytes) {
  const keys = [];
  let at = 0;
  while (at < bytes.length) {
    if (keys.length && bytes[at++] !== "/") return null;
    let key = "";
    const isQuoted = bytes[at] === "'";
    if (isQuoted) {
      for (++at; bytes[at] !== "'";) {
        if (at >= bytes.length) return null;
        const escaped = readEscape(bytes, at);
        if (!escaped && bytes[at] === "\\" && at + 1 < bytes.length) ++at;
        key += escaped ? escaped[0] : bytes[at];
        at += escaped ? escaped[1] : 1;
      }
      ++at;
    } else {
      while (at < bytes.length && bytes[at] !== "/") key += bytes[at++];
      if (key === "" || /['\\]/.test(key)) return null;
    }
    keys.push({ isInteger: !isQuoted && isIntegerText(key), bytes: key });
  }
  return keys;
}

const sameKey = (a, b) => a.isInteger === b.isInteger && a.bytes === b.bytes;

class FilterParser {
  static maxLevels = 1000;
  static constants = ["rest", "everything", "nothing"];
  static functions = ["any", "all", "kind", "tag", "path", "path_like", "path_in", "glob", "regex", "dtype", "shape"];
  static measures = { size: (row) => row.size, rank: (row) => row.shape.length };
  static comparisons = [
    ["==", (a, b) => a == b], ["!=", (a, b) => a != b], ["<=", (a, b) => a <= b], [">=", (a, b) => a >= b],
    ["<", (a, b) => a < b], [">", (a, b) => a > b],
  ];

  // `kinds` maps byte texts to functions (kind of a row) -> bool.
  constructor(text, kinds, dtypes) {
    this.text = text;
    this.kinds = kinds;
    this.dtypes = dtypes;
    this.at = 0;
    this.levels = 0;
  }

  // { takes: row -> bool, isRest }. Throws { what, column, length, hint }.
  parse() {
    const filter = this.alternatives();
    if (!this.atEnd()) this.failHere("expected `&`, `|` or the end of the text");
    return filter;
  }

  fail(at, length, what, hint = "") {
    const characters = (text) => Array.from(text).length;
    throw { what, hint, column: characters(this.text.slice(0, at)) + 1,
            length: Math.max(1, characters(this.text.slice(at, at + length))) };
  }

  failHere(what) {
    if (this.atEnd()) this.fail(this.at, 1, `${what}, got the end of the text`);
    const word = this.word() || Array.from(this.text.slice(this.at, this.at + 2))[0];
    const next = this.text[this.at];
    const hint = next === "=" ? "Equal is written `==`."
        : next === "&" || next === "|" ? "And is written `&`, or `|`, each with a filter on both sides." : "";
    this.fail(this.at, word.length, `${what}, got \`${word.slice(0, 64)}\``, hint);
  }

  skipBlanks() { while (this.at < this.text.length && " \t\r\n".includes(this.text[this.at])) ++this.at; }
  atEnd() {
    this.skipBlanks();
    return this.at === this.text.length;
  }
  accept(sign) {
    if (this.atEnd() || this.text[this.at] !== sign) return false;
    ++this.at;
    return true;
  }
  match(pattern) {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0] ?? "";
  }
  word() { return this.match(/[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)*/y); }

  failTooDeep(at) {
    this.fail(at, 1, `the filter has more than ${FilterParser.maxLevels} levels`,
              "Give all parts to one any(...) or all(...) instead of joining them one by one.");
  }

  build(at, parts, takes) {
    const depth = 1 + parts.reduce((most, part) => Math.max(most, part.depth), 0);
    if (depth > FilterParser.maxLevels) this.failTooDeep(at);
    return { takes, depth, isRest: false };
  }
  any(at, parts) { return this.build(at, parts, (row) => parts.some((part) => part.takes(row))); }
  all(at, parts) { return this.build(at, parts, (row) => parts.every((part) => part.takes(row))); }
  leaf(takes, isRest = false) { return { takes, depth: 1, isRest }; }

  alternatives() {
    let left = this.conjunction();
    while (this.accept("|")) {
      const at = this.at - 1;
      left = this.any(at, [left, this.conjunction()]);
    }
    return left;
  }

  conjunction() {
    let left = this.negation();
    while (this.accept("&")) {
      const at = this.at - 1;
      left = this.all(at, [left, this.negation()]);
    }
    return left;
  }

  negation() {
    let negations = 0;
    let at = this.at;
    while (this.accept("!")) {
      at = this.at - 1;
      if (++negations >= FilterParser.maxLevels) this.failTooDeep(at);
    }
    let filter = this.primary();
    for (; negations > 0; --negations) {
      const inner = filter;
      filter = this.build(at, [inner], (row) => !inner.takes(row));
    }
    return filter;
  }

  inLevel(read) {
    if (++this.levels > FilterParser.maxLevels) this.failTooDeep(this.at - 1);
    const result = read();
    --this.levels;
    return result;
  }

  primary() {
    if (this.accept("(")) {
      return this.inLevel(() => {
        const filter = this.alternatives();
        this.close();
        return filter;
      });
    }
    const at = this.at;
    const word = this.word();
    if (!word) this.failHere("expected a filter");
    this.at += word.length;
    if (Object.hasOwn(FilterParser.measures, word)) return this.comparison(FilterParser.measures[word]);
    return this.accept("(") ? this.call(word, at) : this.constant(word, at);
  }

  comparison(measure) {
    this.skipBlanks();
    for (const [sign, holds] of FilterParser.comparisons) {
      if (!this.text.startsWith(sign, this.at)) continue;
      this.at += sign.length;
      const value = this.integer();
      return this.leaf((row) => holds(measure(row), value));
    }
    return this.failHere("expected ==, !=, <, <=, > or >=");
  }

  constant(word, at) {
    if (word === "rest") return this.leaf(() => true, true);
    if (word === "everything") return this.leaf(() => true);
    if (word === "nothing") return this.leaf(() => false);
    if (word === "predicate") {
      this.fail(at, word.length, "`predicate` stands for a function in a program, which a text cannot name",
                "Write the filter with parts that have names.");
    }
    if (FilterParser.functions.includes(word)) {
      this.fail(at, word.length, `\`${word}\` needs parentheses`, `Write \`${word}(...)\`.`);
    }
    return this.kind(word, at, word.length);
  }

  kind(name, at, length) {
    const isKind = this.kinds.get(name);
    if (!isKind) {
      this.fail(at, length, `no kind is named \`${name.slice(0, 64)}\``, "Known are: " + [...this.kinds.keys()].join(", "));
    }
    return this.leaf((row) => isKind(row.kind));
  }

  call(name, at) {
    switch (name) {
      case "any": return this.any(at, this.filters());
      case "all": return this.all(at, this.filters());
      case "kind": return this.kindCall();
      case "tag": return this.only(() => this.quoted().bytes, (tag) => (row) => row.tag === tag);
      case "path": return this.only(() => this.key(), (key) => (row) => row.keys.some((other) => sameKey(key, other)));
      case "path_like":
        return this.only(() => this.quoted().bytes, (text) => (row) => row.keys.some((key) => key.bytes.includes(text)));
      case "path_in": return this.pathIn();
      case "glob":
        return this.only(() => this.pattern((bytes) => new Glob(bytes)), (glob) => (row) => glob.matches(row.keys));
      case "regex":
        return this.only(() => this.pattern(FilterParser.regex), (regex) => (row) => regex.isFoundIn(row.path));
      case "dtype": return this.dtype();
      case "shape": return this.shape();
    }
    const takesNone = this.kinds.has(name) || FilterParser.constants.includes(name) || name === "predicate";
    return this.fail(at, name.length, takesNone ? `\`${name}\` takes no parentheses` : `there is no function \`${name}\``);
  }

  only(read, make) {
    const value = read();
    this.close();
    return this.leaf(make(value));
  }

  list(read) {
    const values = [];
    if (this.accept(")")) return values;
    do values.push(read()); while (this.accept(","));
    this.close();
    return values;
  }

  filters() { return this.inLevel(() => this.list(() => this.alternatives())); }
  close() { if (!this.accept(")")) this.failHere("expected `)`"); }

  kindCall() {
    this.skipBlanks();
    const at = this.at;
    const filter = this.kind(this.quoted().bytes, at, this.at - at);
    this.close();
    return filter;
  }

  integer() {
    this.skipBlanks();
    const digits = this.match(/-?[0-9]+/y);
    if (!digits) this.failHere("expected an integer");
    const value = BigInt(digits);
    if (!fits64(value)) this.fail(this.at, digits.length, "the integer does not fit 64 bits");
    this.at += digits.length;
    return value;
  }

  // A text in quotes: its bytes, and where each of them is written.
  quoted() {
    this.skipBlanks();
    const begin = this.at;
    const quote = this.text[begin];
    if (quote !== "'" && quote !== '"') this.failHere("expected a text in quotes");
    let bytes = "";
    const places = [];
    for (++this.at; this.at < this.text.length && this.text[this.at] !== quote;) {
      const escaped = readEscape(this.text, this.at);
      const character = escaped ? escaped[0] : String.fromCodePoint(this.text.codePointAt(this.at));
      const added = escaped ? character : toBytes(character);
      bytes += added;
      for (let i = 0; i < added.length; ++i) places.push(this.at);
      this.at += escaped ? escaped[1] : character.length;
    }
    places.push(this.at);
    if (this.at >= this.text.length) this.fail(begin, 1, "the closing quote is missing");
    ++this.at;
    return { bytes, places };
  }

  key() {
    this.skipBlanks();
    const isText = this.text[this.at] === "'" || this.text[this.at] === '"';
    return isText ? { isInteger: false, bytes: this.quoted().bytes } : { isInteger: true, bytes: String(this.integer()) };
  }

  pathIn() {
    const paths = this.list(() => {
      this.skipBlanks();
      const at = this.at;
      return parsePath(this.quoted().bytes) ?? this.fail(at, this.at - at, "this is no path");
    });
    return this.leaf((row) => paths.some((path) =>
        path.length === row.keys.length && path.every((key, i) => sameKey(key, row.keys[i]))));
  }

  pattern(make) {
    const { bytes, places } = this.quoted();
    try {
      return make(bytes);
    } catch (error) {
      return this.fail(places[error.at], 1, error.what);
    }
  }

  static regex(bytes) {
    const { codes, starts } = toCharacters(bytes);
    const stray = codes.findIndex((code) => code > 0x10ffff);
    if (stray >= 0) throw { what: "invalid UTF-8", at: starts[stray] };
    try {
      return new Regex(String.fromCodePoint(...codes));
    } catch (error) {
      throw { what: error.what, at: starts[error.at] ?? bytes.length };
    }
  }

  dtype() {
    const names = this.list(() => {
      this.skipBlanks();
      const word = this.word();
      if (!word) this.failHere("expected an element type such as float32");
      if (!this.dtypes.includes(word)) this.fail(this.at, word.length, `there is no element type \`${word}\``);
      this.at += word.length;
      return word;
    });
    return this.leaf((row) => names.includes(row.dtype));
  }

  shape() {
    const axes = this.list(() => {
      if (this.accept("*")) return this.accept("*") ? "**" : "*";
      this.skipBlanks();
      const at = this.at;
      const size = this.integer();
      if (size < 0n) this.fail(at, this.at - at, "an axis has no negative size");
      return size;
    });
    return this.leaf((row) => matchWildcards(axes.length, row.shape.length, (p) => axes[p] === "**",
                                             (p, i) => axes[p] === "*" || axes[p] == row.shape[i]));
  }
}
