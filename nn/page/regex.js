// SPDX-License-Identifier: Apache-2.0
// Regular expressions with RE2's syntax, found in time proportional to text times pattern: a set of states moves along
// the text. Whether a pattern is found is all that is asked, so that groups and greediness play no part.
const Regex = (() => {
  const named = {
    alnum: "0-9A-Za-z", alpha: "A-Za-z", ascii: "\\u{0}-\\u{7f}", blank: "\\t ", cntrl: "\\u{0}-\\u{1f}\\u{7f}",
    digit: "0-9", graph: "!-~", lower: "a-z", print: " -~", punct: "!-\\/:-@\\[-`{-~", space: "\\t\\n\\v\\f\\r ",
    upper: "A-Z", word: "0-9A-Za-z_", xdigit: "0-9A-Fa-f",
  };
  const short = { d: named.digit, w: named.word, s: "\\t\\n\\f\\r " };
  const controls = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
  const maxLevels = 1000;
  const maxStates = 100000;

  class Reader {
    constructor(text) {
      this.text = Array.from(text);
      this.at = 0;
      this.flags = { i: false, m: false, s: false, U: false };
      this.levels = 0;
    }

    fail(what, at = this.at) { throw { what, at }; }
    looksAt(word) { return this.text.slice(this.at, this.at + word.length).join("") === word; }
    accept(word) {
      if (!this.looksAt(word)) return false;
      this.at += word.length;
      return true;
    }

    read() {
      const node = this.alternatives();
      if (this.at < this.text.length) this.fail("unexpected `)`");
      return node;
    }

    alternatives() {
      if (++this.levels > maxLevels) this.fail("the expression is nested too deeply");
      const list = [this.sequence()];
      while (this.accept("|")) list.push(this.sequence());
      --this.levels;
      return list.length === 1 ? list[0] : { type: "any", list };
    }

    sequence() {
      const list = [];
      let repeats = false;
      while (this.at < this.text.length && !this.looksAt("|") && !this.looksAt(")")) {
        const begin = this.at;
        const count = this.count();
        if (count) {
          if (!list.length) this.fail("no argument for the repetition", begin);
          if (repeats) this.fail("repetitions cannot be repeated", begin);
          this.accept("?");
          list.push({ type: "repeat", node: list.pop(), ...count });
          repeats = true;
        } else {
          const before = list.length;
          this.item(list);
          repeats = repeats && list.length === before;
        }
      }
      return { type: "all", list };
    }

    count() {
      if (this.accept("*")) return { min: 0, max: Infinity };
      if (this.accept("+")) return { min: 1, max: Infinity };
      if (this.accept("?")) return { min: 0, max: 1 };
      if (!this.looksAt("{")) return null;
      const match = /^\{(\d+)(,(\d*))?\}/.exec(this.text.slice(this.at, this.at + 24).join(""));
      if (!match) return null;
      const min = Number(match[1]);
      const max = match[2] === undefined ? min : match[3] === "" ? Infinity : Number(match[3]);
      if (min > 1000 || (max > 1000 && max !== Infinity) || max < min) this.fail("invalid repetition size");
      this.at += match[0].length;
      return { min, max };
    }

    item(list) {
      if (this.accept("\\Q")) return this.quoted(list);
      const c = this.text[this.at];
      if (c === "(") return this.group(list);
      if (c === "[") return list.push(this.characterClass());
      if (c === "\\") return list.push(this.escaped());
      ++this.at;
      if (c === ".") return list.push(this.set(this.flags.s ? "\\u{0}-\\u{10ffff}" : "\\n", !this.flags.s));
      if (c === "^") return list.push({ type: "assert", test: this.flags.m ? "line begin" : "begin" });
      if (c === "$") return list.push({ type: "assert", test: this.flags.m ? "line end" : "end" });
      return list.push(this.set(this.code(c)));
    }

    quoted(list) {
      while (this.at < this.text.length && !this.accept("\\E")) list.push(this.set(this.code(this.text[this.at++])));
    }

    group(list) {
      const begin = this.at++;
      const outer = { ...this.flags };
      if (this.accept("?") && !this.accept(":") && !this.groupName()) {
        const match = /^([imsU]*)(?:-([imsU]+))?([:)])/.exec(this.text.slice(this.at, this.at + 12).join(""));
        if (!match || match[0] === ")") this.fail("the group begins with what RE2 does not know", begin);
        for (const flag of match[1]) this.flags[flag] = true;
        for (const flag of match[2] ?? "") this.flags[flag] = false;
        this.at += match[0].length;
        if (match[3] === ")") return;
      }
      list.push(this.alternatives());
      if (!this.accept(")")) this.fail("the closing `)` is missing", begin);
      this.flags = outer;
    }

    groupName() {
      const match = /^P<\w+>/.exec(this.text.slice(this.at, this.at + 300).join(""));
      if (match) this.at += match[0].length;
      return match !== null;
    }

    escaped() {
      const begin = this.at;
      const next = this.text[this.at + 1];
      if (next === undefined) this.fail("the text ends with a backslash");
      const assertions = { A: "begin", z: "end", b: "word edge", B: "no word edge" };
      if (next in assertions) {
        this.at += 2;
        return { type: "assert", test: assertions[next] };
      }
      const [items, negated] = this.escapedSet() ?? [this.code(this.escapedCharacter()), false];
      return items === "" ? this.fail("invalid escape", begin) : this.set(items, negated);
    }

    // \d \W \pL \P{Greek}: what stands in a class, and whether it is the contrary that is meant.
    escapedSet() {
      const next = this.text[this.at + 1] ?? "";
      if ("dws".includes(next.toLowerCase()) && next) {
        this.at += 2;
        return [short[next.toLowerCase()], next !== next.toLowerCase()];
      }
      if (next !== "p" && next !== "P") return null;
      const match = /^\\[pP](?:\{(\^?)(\w+)\}|(\w))/.exec(this.text.slice(this.at, this.at + 40).join(""));
      const name = match?.[2] ?? match?.[3];
      const spelt = [`\\p{${name}}`, `\\p{Script=${name}}`].find((text) => {
        try { return name && new RegExp(text, "u"); } catch { return false; }
      });
      if (!spelt) this.fail("invalid character class");
      this.at += match[0].length;
      return [spelt, (next === "P") !== (match[1] === "^")];
    }

    escapedCharacter() {
      const rest = this.text.slice(this.at + 1, this.at + 12).join("");
      const hex = /^x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/.exec(rest);
      const octal = /^(0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest);
      let code = -1;
      let length = 1;
      if (hex) {
        code = parseInt(hex[1] ?? hex[2], 16);
        length = hex[0].length;
      } else if (octal) {
        code = parseInt(octal[0], 8);
        length = octal[0].length;
      } else if (rest[0] in controls) {
        code = controls[rest[0]];
      } else if (/^[!-\/:-@[-`{-~]/.test(rest)) {
        code = rest.charCodeAt(0);
      }
      if (code < 0 || code > 0x10ffff) this.fail("invalid escape");
      this.at += 1 + length;
      return String.fromCodePoint(code);
    }

    characterClass() {
      const begin = this.at++;
      const negated = this.accept("^");
      let parts = [];
      for (let first = true; first || !this.looksAt("]"); first = false) {
        if (this.at >= this.text.length) this.fail("the closing `]` is missing", begin);
        parts.push(this.classItem());
      }
      ++this.at;
      return this.set(parts, negated);
    }

    // A text for the inside of a class, or such a text and true if its contrary is meant.
    classItem() {
      const name = /^\[:(\^?)(\w+):\]/.exec(this.text.slice(this.at, this.at + 14).join(""));
      if (name) {
        if (!Object.hasOwn(named, name[2])) this.fail("invalid character class");
        this.at += name[0].length;
        return [named[name[2]], name[1] === "^"];
      }
      const set = this.looksAt("\\") ? this.escapedSet() : null;
      if (set) return set;
      const begin = this.at;
      const low = this.classCharacter();
      if (!this.looksAt("-") || this.text[this.at + 1] === "]" || this.text[this.at + 1] === undefined) {
        return [this.code(low), false];
      }
      ++this.at;
      const high = this.classCharacter();
      if (high.codePointAt(0) < low.codePointAt(0)) this.fail("the range is empty", begin);
      return [`${this.code(low)}-${this.code(high)}`, false];
    }

    classCharacter() { return this.looksAt("\\") ? this.escapedCharacter() : this.text[this.at++]; }

    code(character) { return `\\u{${character.codePointAt(0).toString(16)}}`; }

    // One character that is in one of the parts, or in none.
    set(parts, negated = false) {
      const list = typeof parts === "string" ? [[parts, false]] : parts;
      const flags = this.flags.i ? "iu" : "u";
      const tests = list.map(([items, contrary]) => [new RegExp(`[${items}]`, flags), contrary]);
      return { type: "set", fits: (c) => tests.some(([test, contrary]) => test.test(c) !== contrary) !== negated };
    }
  }

  class Compiler {
    constructor() {
      this.states = [];
      this.steps = 0;
    }

    add(state) {
      if (this.states.length >= maxStates) throw { what: "the expression is too large", at: 0 };
      return this.states.push(state) - 1;
    }

    compile(node) {
      if (++this.steps > maxStates) throw { what: "the expression is too large", at: 0 };
      switch (node.type) {
        case "all": return node.list.forEach((item) => this.compile(item));
        case "any": return this.alternatives(node.list);
        case "repeat": return this.repeat(node);
        default: this.add({ ...node });
      }
    }

    alternatives(list) {
      const ends = [];
      list.forEach((item, i) => {
        const fork = i + 1 < list.length ? this.add({ type: "fork", to: [] }) : -1;
        if (fork >= 0) this.states[fork].to.push(this.states.length);
        this.compile(item);
        if (fork < 0) return;
        ends.push(this.add({ type: "fork", to: [] }));
        this.states[fork].to.push(this.states.length);
      });
      for (const end of ends) this.states[end].to.push(this.states.length);
    }

    repeat({ node, min, max }) {
      for (let i = 0; i < min; ++i) this.compile(node);
      const forks = [];
      for (let i = min; i < (max === Infinity ? min + 1 : max); ++i) {
        const fork = this.add({ type: "fork", to: [] });
        this.states[fork].to.push(this.states.length);
        forks.push(fork);
        this.compile(node);
        if (max === Infinity) this.add({ type: "fork", to: [fork] });
      }
      for (const fork of forks) this.states[fork].to.push(this.states.length);
    }
  }

  const isWord = (c) => c !== undefined && /[0-9A-Za-z_]/.test(c);
  const assertions = {
    "begin": (text, at) => at === 0,
    "end": (text, at) => at === text.length,
    "line begin": (text, at) => at === 0 || text[at - 1] === "\n",
    "line end": (text, at) => at === text.length || text[at] === "\n",
    "word edge": (text, at) => isWord(text[at - 1]) !== isWord(text[at]),
    "no word edge": (text, at) => isWord(text[at - 1]) === isWord(text[at]),
  };

  return class {
    // Throws { what, at }, with the position of a character.
    constructor(pattern) {
      const compiler = new Compiler();
      compiler.compile(new Reader(pattern).read());
      this.states = compiler.states;
      this.seen = new Int32Array(this.states.length + 1);
      this.step = 0;
    }

    isFoundIn(whole) {
      const text = Array.from(whole);
      let current = [];
      for (let at = 0; at <= text.length; ++at) {
        ++this.step;
        const open = [];
        for (const state of current) {
          if (this.states[state].fits(text[at - 1])) open.push(state + 1);
        }
        open.push(0);
        current = [];
        while (open.length) {
          const state = open.pop();
          if (state === this.states.length) return true;
          if (this.seen[state] === this.step) continue;
          this.seen[state] = this.step;
          const { type, to, test } = this.states[state];
          if (type === "set") current.push(state);
          if (type === "fork") open.push(...to);
          if (type === "assert" && assertions[test](text, at)) open.push(state + 1);
        }
      }
      return false;
    }
  };
})();
