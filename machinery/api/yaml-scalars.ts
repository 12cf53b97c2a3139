/** What a plain YAML scalar means to go-yaml v2, the dialect of kubectl: YAML 1.1 with its own ideas. */

export type ScalarType = 'null' | 'bool' | 'int' | 'float' | 'timestamp' | 'merge' | 'string';

export interface ResolvedScalar {
  readonly type: ScalarType;
  /** Decimal digits for an int; what Number() reads for a float; `true` or `false` for a bool. */
  readonly text: string;
}

const WORDS = new Map<string, ResolvedScalar>();
const word = (type: ScalarType, text: string, ...words: string[]): void => {
  for (const w of words) WORDS.set(w, { type, text });
};
word('bool', 'true', 'y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON');
word('bool', 'false', 'n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF');
word('null', '', '', '~', 'null', 'Null', 'NULL');
word('float', 'NaN', '.nan', '.NaN', '.NAN');
word('float', 'Infinity', '.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF');
word('float', '-Infinity', '-.inf', '-.Inf', '-.INF');
word('merge', '<<', '<<');

const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const TIMESTAMP =
  /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d{2}:\d{2}))|(?: \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?))?$/;
const MAX_UINT64 = (1n << 64n) - 1n;
const MIN_INT64 = -(1n << 63n);

export function resolvePlain(text: string): ResolvedScalar {
  const known = WORDS.get(text);
  if (known !== undefined) return known;
  const first = text.charCodeAt(0);
  const numeric = first === 0x2b || first === 0x2d || first === 0x2e || (first >= 0x30 && first <= 0x39);
  if (!numeric) return { type: 'string', text };
  if (TIMESTAMP.test(text)) return { type: 'timestamp', text };
  const plain = first === 0x2e ? text : text.replaceAll('_', '');
  if (first !== 0x2e) {
    const integer = parseInteger(plain);
    if (integer !== undefined) return { type: 'int', text: String(integer) };
  }
  if (FLOAT.test(plain)) return { type: 'float', text: plain };
  return { type: 'string', text };
}

/** strconv.ParseInt(text, 0, 64): decimal, 0x, 0o, 0b, and octal with a leading zero. */
function parseInteger(text: string): bigint | undefined {
  const match = /^([-+]?)(?:(0[xX][0-9a-fA-F]+)|(0[bB][01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))$/.exec(text);
  if (match === null || text.length > 70) return undefined;
  const [, sign, hex, binary, octal, decimal] = match;
  const magnitude = BigInt(hex ?? binary ?? (octal === undefined ? decimal! : `0o${octal}`));
  const value = sign === '-' ? -magnitude : magnitude;
  return value >= MIN_INT64 && value <= MAX_UINT64 ? value : undefined;
}

/** strconv.FormatFloat(value, 'g', -1, 64): an exponent from a million on. */
export function goFloat(value: number): string {
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
