/** Equality of values as ownership sees them: numbers by amount, objects by members. */
import { isJsonNumber, NumberLiteral, numberText } from '../../machinery/api/json-number.ts';
import { isPlain, type Plain } from '../../machinery/api/plain.ts';
import { EMPTY, membersOf, type Typed } from './typed.ts';

/** JSON equality without a schema. Equal objects mostly have their members in the same order: that case is fast. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return sameNumber(a, b);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!sameJson(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  if (a instanceof NumberLiteral || b instanceof NumberLiteral) return sameNumber(a, b);
  const keys = Object.keys(a);
  const others = Object.keys(b);
  if (keys.length !== others.length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key !== others[i] && !Object.hasOwn(b, key)) return false;
    if (!sameJson((a as Plain)[key], (b as Plain)[key])) return false;
  }
  return true;
}

function sameNumber(a: unknown, b: unknown): boolean {
  if (!isJsonNumber(a) || !isJsonNumber(b)) return false;
  return numberText(a) === numberText(b) || (isFraction(a) || isFraction(b) ? Number(a.toString()) === Number(b.toString()) : false);
}

/** Written with a point or an exponent. */
function isFraction(value: { toString(): string }): boolean {
  return /[.eE]/.test(value.toString());
}

/** Equality of what Go would print of the two. */
export function sameTyped(type: Typed, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  switch (type.kind) {
    case 'struct': {
      if (a === null || b === null || a === undefined || b === undefined) return (a ?? null) === (b ?? null);
      const x = isPlain(a) ? a : EMPTY;
      const y = isPlain(b) ? b : EMPTY;
      return membersOf(type.schema).list.every(({ name, type: inner, view }) => {
        const left = view(x[name]);
        const right = view(y[name]);
        return left === right || (left !== undefined && right !== undefined && sameTyped(inner, left, right));
      });
    }
    case 'list':
      if (!Array.isArray(a) || !Array.isArray(b)) return sameJson(a, b);
      return a.length === b.length && a.every((item, i) => sameTyped(type.of, item, b[i]));
    case 'map': {
      if (!isPlain(a) || !isPlain(b)) return sameJson(a, b);
      const keys = Object.keys(a);
      return (
        keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameTyped(type.of, a[key], (b as Plain)[key]))
      );
    }
    default:
      return sameJson(a, b);
  }
}
