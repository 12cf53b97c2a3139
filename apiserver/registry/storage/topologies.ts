/**
 * Topologies that a storage class allows. Mirrors kubernetes `core/validation` ValidateTopologySelectorTerm and `storage/validation`
 * validateAllowedTopologies.
 */
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { qualifiedName } from '../../../machinery/api/names.ts';
import type { TopologySelectorTerm } from '../../../machinery/api/types/core.v1.ts';

export function allowedTopologyErrors(terms: readonly TopologySelectorTerm[] | undefined, errors: FieldError[]): void {
  const seen = new Set<string>();
  terms?.forEach((term, i) => {
    const path = `allowedTopologies[${i}].matchLabelExpressions`;
    const keys = new Map<string, readonly string[]>();
    term.matchLabelExpressions?.forEach(({ key = '', values: sent }, j) => {
      const values = sent ?? [];
      const at = `${path}[${j}]`;
      if (values.length === 0) errors.push(required(`${at}.values`));
      values.forEach((value, k) => {
        if (values.indexOf(value) < k) errors.push(duplicate(`${at}.values[${k}]`, value));
      });
      for (const detail of qualifiedName(key)) errors.push(invalidValue(`${at}.key`, key, detail));
      if (keys.has(key)) errors.push(duplicate(`${at}.key`, key));
      keys.set(key, [...values].sort());
    });
    const form = JSON.stringify([...keys].sort(([a], [b]) => (a < b ? -1 : 1)));
    if (seen.has(form)) errors.push(duplicate(path, ''));
    seen.add(form);
  });
}
