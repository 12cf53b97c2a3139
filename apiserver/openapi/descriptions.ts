/**
 * What `explain` says of types and fields: our own sentences, for what something here acts upon and people ask about. Upstream generates its
 * descriptions from comments in Go; where we have none, the documents have none.
 *
 * The data file is keyed by type and field, '' standing for the type itself and the type '*' for members that every kind has.
 */
import texts from './descriptions.json' with { type: 'json' };

const byType: Readonly<Record<string, Readonly<Record<string, string>>>> = texts;
const EVERY_KIND = '*';

const textOf = (type: string, field: string): string | undefined => {
  const fields = Object.hasOwn(byType, type) ? byType[type]! : {};
  return Object.hasOwn(fields, field) ? fields[field] : undefined;
};

export const typeDescription = (type: string): string | undefined => textOf(type, '');

/** `isKind`: the type is a kind of its own, not a part of one. */
export const fieldDescription = (type: string, field: string, isKind: boolean): string | undefined =>
  textOf(type, field) ?? (isKind ? textOf(EVERY_KIND, field) : undefined);

/** What is described, for the test that all of it exists. */
export const describedTypes = (): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(byType)
      .filter(([type]) => type !== EVERY_KIND)
      .map(([type, fields]) => [type, Object.keys(fields)]),
  );
