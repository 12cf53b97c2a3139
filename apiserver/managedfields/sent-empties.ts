/**
 * Empty lists that are printed whether they are set or not (the rules of a role): stored they are no more than nothing, but whoever sends one owns it.
 * The printed form of an object does not have them; this puts them back for the tracking of ownership to see.
 */
import { isPlain, type Plain } from '../../machinery/api/plain.ts';
import type { TypeSchema } from '../../machinery/api/schema/schema.ts';

type Path = readonly string[];

const known = new WeakMap<TypeSchema, readonly Path[]>();

/** Paths to such lists and maps that lead through structs only. */
function alwaysPrinted(schema: TypeSchema, above: readonly TypeSchema[] = []): readonly Path[] {
  const done = known.get(schema);
  if (done !== undefined) return done;
  const paths: Path[] = [];
  for (const { name, type, omitEmpty, pointer } of schema.members) {
    if ((type.kind === 'list' || type.kind === 'map') && !omitEmpty && !pointer) paths.push([name]);
    // A type that holds itself has no end of paths.
    else if (type.kind === 'struct' && !above.includes(type.schema) && type.schema !== schema) {
      for (const path of alwaysPrinted(type.schema, [...above, schema])) paths.push([name, ...path]);
    }
  }
  known.set(schema, paths);
  return paths;
}

/** Changes `printed`, the printed form of `sent`. */
export function keepSentEmpties(schema: TypeSchema, sent: Plain, printed: Plain): void {
  for (const path of alwaysPrinted(schema)) {
    let [from, to]: [unknown, unknown] = [sent, printed];
    for (const name of path.slice(0, -1)) [from, to] = [isPlain(from) ? from[name] : undefined, isPlain(to) ? to[name] : undefined];
    const last = path.at(-1)!;
    if (!isPlain(from) || !isPlain(to) || to[last] !== null) continue;
    const value = from[last];
    if (Array.isArray(value)) to[last] = [];
    else if (isPlain(value)) to[last] = {};
  }
}
