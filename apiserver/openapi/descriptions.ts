/**
 * What `explain` says of types and fields: our own sentences, for what something here acts upon and people ask about. Upstream generates its
 * descriptions from comments in Go; where we have none, the documents have none.
 *
 * The data file is keyed by type and field, '' standing for the type itself. What many types share is said once: `*` has the members of every kind,
 * `*Condition` those of every type of that ending, `**` those of any type.
 */

import { twinOf } from '../../machinery/api/schema/twins.ts';
import texts from './descriptions.json' with { type: 'json' };

const byType: Readonly<Record<string, Readonly<Record<string, string>>>> = texts;
const EVERY_KIND = '*';
const EVERY_TYPE = '**';
const CONDITION = 'Condition';

const textOf = (type: string, field: string): string | undefined => {
  const fields = Object.hasOwn(byType, type) ? byType[type]! : {};
  return Object.hasOwn(fields, field) ? fields[field] : undefined;
};

/** A version with the fields of v1 is described as v1 is. */
function describedAs(type: string): string {
  const dot = type.lastIndexOf('.');
  const twin = twinOf(type.slice(0, dot));
  return twin === undefined ? type : `${twin}${type.slice(dot)}`;
}

function ownText(type: string, field: string): string | undefined {
  const own = textOf(describedAs(type), field);
  return own ?? (type.endsWith(CONDITION) ? textOf(`*${CONDITION}`, field) : undefined);
}

export const typeDescription = (type: string): string | undefined => ownText(type, '');

/** `isKind`: the type is a kind of its own, not a part of one. */
export const fieldDescription = (type: string, field: string, isKind: boolean): string | undefined =>
  ownText(type, field) ?? (isKind ? textOf(EVERY_KIND, field) : undefined) ?? textOf(EVERY_TYPE, field);

/** What is described, for the test that all of it exists. */
export const describedTypes = (): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(byType)
      .filter(([type]) => !type.startsWith(EVERY_KIND))
      .map(([type, fields]) => [type, Object.keys(fields)]),
  );
