/**
 * Reads the words that name resources: `pods`, `pods web db`, `po,svc`, `deploy/web`, `deploy/web svc/web`, `all`.
 * Mirrors cli-runtime `resource.Builder.ResourceTypeOrNameArgs`.
 */
import type { Mapper, Resource } from '../discovery/mapper.ts';
import { CliError } from '../errors.ts';

export interface Wanted {
  readonly resource: Resource;
  /** Absent: every object of the resource that the selectors let through. */
  readonly name?: string;
}

export interface WantedWords {
  readonly wanted: Wanted[];
  /** True for one name of one type: what is printed is the object, not a List. */
  readonly single: boolean;
}

/** Throws in kubectl's wording. An empty list of words yields nothing wanted. */
export function parseResourceWords(words: readonly string[], mapper: Mapper): WantedWords {
  if (words.length === 0) return { wanted: [], single: false };
  if (words.some((word) => word.includes('/'))) return parsePairs(words, mapper);
  const [types, ...names] = words;
  const resources = expandTypes(types, mapper);
  if (names.length === 0) return { wanted: resources.map((resource) => ({ resource })), single: false };
  for (const name of names) {
    if (name === '') throw new CliError('resource name may not be empty');
  }
  return {
    wanted: resources.flatMap((resource) => [...new Set(names)].map((name) => ({ resource, name }))),
    single: resources.length === 1 && names.length === 1,
  };
}

function expandTypes(text: string, mapper: Mapper): Resource[] {
  const seen = new Set<Resource>();
  for (const type of text.split(',')) {
    if (type === '') throw new CliError(`arguments in resource/name form may not have more than one slash`);
    const category = mapper.find(type) ? [] : mapper.category(type);
    for (const resource of category.length > 0 ? category : [mapper.resource(type)]) seen.add(resource);
  }
  return [...seen];
}

function parsePairs(words: readonly string[], mapper: Mapper): WantedWords {
  const seen = new Set<string>();
  const wanted: Wanted[] = [];
  for (const word of words) {
    const parts = word.split('/');
    if (parts.length === 1) {
      throw new CliError(
        "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'",
      );
    }
    if (parts.length > 2) throw new CliError('arguments in resource/name form may not have more than one slash');
    const [type, name] = parts;
    if (type === '' || name === '' || type.includes(','))
      throw new CliError('arguments in resource/name form must have a single resource and name');
    const resource = mapper.resource(type);
    const key = `${resource.resource}.${resource.group}/${name}`;
    if (!seen.has(key)) wanted.push({ resource, name });
    seen.add(key);
  }
  return { wanted, single: wanted.length === 1 };
}
