/**
 * The operations of a resource, with the parameters clients look for (kubectl asks whether PATCH takes `fieldValidation`).
 * Mirrors apiserver `endpoints/installer.go`.
 */
import type { ResourceInfo, SubresourceInfo } from '../../machinery/api/schema/resources.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import type { Dialect, Json, SchemaCollector } from './schemas.ts';

interface Action {
  readonly method: string;
  readonly verb: string;
  /** x-kubernetes-action. */
  readonly action: string;
  readonly parameters: readonly string[];
  readonly body: 'object' | 'patch' | 'delete' | 'none';
  readonly answer: 'object' | 'list' | 'status';
}

const WRITE = ['dryRun', 'fieldManager', 'fieldValidation'];
const SELECT = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
];
const DELETE = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
];

const COLLECTION: readonly Action[] = [
  { method: 'get', verb: 'list', action: 'list', parameters: SELECT, body: 'none', answer: 'list' },
  { method: 'post', verb: 'create', action: 'post', parameters: WRITE, body: 'object', answer: 'object' },
  {
    method: 'delete',
    verb: 'deletecollection',
    action: 'deletecollection',
    parameters: [...SELECT, ...DELETE],
    body: 'delete',
    answer: 'status',
  },
];
const OBJECT: readonly Action[] = [
  { method: 'get', verb: 'get', action: 'get', parameters: [], body: 'none', answer: 'object' },
  { method: 'put', verb: 'update', action: 'put', parameters: WRITE, body: 'object', answer: 'object' },
  { method: 'patch', verb: 'patch', action: 'patch', parameters: [...WRITE, 'force'], body: 'patch', answer: 'object' },
  { method: 'delete', verb: 'delete', action: 'delete', parameters: DELETE, body: 'delete', answer: 'status' },
];
const SUB: readonly Action[] = [...OBJECT.slice(0, 3), COLLECTION[1]!];

const INTEGERS = new Set(['limit', 'timeoutSeconds', 'gracePeriodSeconds']);
const BOOLEANS = new Set([
  'allowWatchBookmarks',
  'sendInitialEvents',
  'watch',
  'force',
  'orphanDependents',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
]);
const ANSWER_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml'];
const PATCH_TYPES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

/** All paths of a resource: collection, object, subresources. */
export function resourcePaths(info: ResourceInfo, collector: SchemaCollector, dialect: Dialect): Json {
  const root = info.group === '' ? `/api/${info.version}` : `/apis/${info.group}/${info.version}`;
  const scope = info.namespaced ? `${root}/namespaces/{namespace}/${info.plural}` : `${root}/${info.plural}`;
  const build = new PathBuilder(info, collector, dialect);
  const paths: Json = {};
  const add = (path: string, item: Json | undefined): void => {
    if (item !== undefined) paths[path] = item;
  };
  if (info.namespaced) add(`${root}/${info.plural}`, build.item(COLLECTION.slice(0, 1), info, []));
  add(scope, build.item(COLLECTION, info, info.namespaced ? ['namespace'] : []));
  const named = info.namespaced ? ['name', 'namespace'] : ['name'];
  add(`${scope}/{name}`, build.item(OBJECT, info, named));
  for (const sub of info.subresources ?? []) add(`${scope}/{name}/${sub.name}`, build.item(SUB, sub, named));
  return paths;
}

class PathBuilder {
  readonly #info: ResourceInfo;
  readonly #collector: SchemaCollector;
  readonly #dialect: Dialect;
  constructor(info: ResourceInfo, collector: SchemaCollector, dialect: Dialect) {
    this.#info = info;
    this.#collector = collector;
    this.#dialect = dialect;
  }

  item(actions: readonly Action[], target: ResourceInfo | SubresourceInfo, inPath: readonly string[]): Json | undefined {
    const served = actions.filter((a) => target.verbs.includes(a.verb));
    if (served.length === 0) return undefined;
    const item: Json = {};
    for (const action of served) item[action.method] = this.#operation(action, target, inPath.length > 0 || !this.#info.namespaced);
    const parameters = inPath.map((name) => this.#parameter(name, 'path'));
    item['parameters'] = [...parameters, this.#parameter('pretty', 'query')];
    return item;
  }

  #operation(action: Action, target: ResourceInfo | SubresourceInfo, scoped: boolean): Json {
    const info = this.#info;
    const kind = {
      group: 'group' in target && target.group !== undefined ? target.group : info.group,
      kind: target.kind,
      version: 'version' in target && target.version !== undefined ? target.version : info.version,
    };
    const body = this.#body(action, target);
    const parameters = action.parameters.map((name) => this.#parameter(name, 'query'));
    const answer = this.#answer(action, target);
    return {
      description: `${action.action} ${target.kind}`,
      operationId: operationId(info, target, action, scoped),
      tags: [`${info.group === '' ? 'core' : info.group.split('.')[0]}_${info.version}`],
      ...(this.#dialect === 'v2' && {
        consumes: action.body === 'patch' ? PATCH_TYPES : ['*/*'],
        produces: ANSWER_TYPES,
        schemes: ['https'],
      }),
      ...(this.#dialect === 'v2'
        ? {
            parameters: [
              ...(body === undefined ? [] : [{ in: 'body', name: 'body', required: action.body !== 'delete', schema: body }]),
              ...parameters,
            ],
          }
        : { ...(parameters.length > 0 && { parameters }), ...(body !== undefined && { requestBody: requestBody(action, body) }) }),
      responses: this.#responses(action, answer),
      'x-kubernetes-action': action.action,
      'x-kubernetes-group-version-kind': kind,
    };
  }

  #responses(action: Action, schema: Json): Json {
    const ok =
      this.#dialect === 'v2'
        ? { description: 'OK', schema }
        : { description: 'OK', content: Object.fromEntries(ANSWER_TYPES.map((type) => [type, { schema }])) };
    return {
      '200': ok,
      ...((action.method === 'post' || action.method === 'put') && { '201': { ...ok, description: 'Created' } }),
      '401': { description: 'Unauthorized' },
    };
  }

  #body(action: Action, target: ResourceInfo | SubresourceInfo): Json | undefined {
    if (action.body === 'object')
      return this.#collector.reference(typeSchema('request' in target && target.request !== undefined ? target.request : target.type));
    if (action.body === 'delete') return this.#collector.reference(typeSchema('meta.v1.DeleteOptions'));
    return action.body === 'patch' ? this.#collector.patch() : undefined;
  }

  #answer(action: Action, target: ResourceInfo | SubresourceInfo): Json {
    if (action.answer === 'status') return this.#collector.reference(typeSchema('meta.v1.Status'));
    const list = action.answer === 'list' && 'listType' in target ? target.listType : undefined;
    const response = 'response' in target ? target.response : undefined;
    if (response === 'string') return { type: 'string' };
    return this.#collector.reference(typeSchema(list ?? response ?? target.type));
  }

  #parameter(name: string, where: 'path' | 'query'): Json {
    const type = INTEGERS.has(name) ? 'integer' : BOOLEANS.has(name) ? 'boolean' : 'string';
    const shape = this.#dialect === 'v3' ? { schema: { type, uniqueItems: true } } : { type, uniqueItems: true };
    return { name, in: where, ...(where === 'path' && { required: true }), ...shape };
  }
}

function requestBody(action: Action, schema: Json): Json {
  const types = action.body === 'patch' ? PATCH_TYPES : ['*/*'];
  return { content: Object.fromEntries(types.map((type) => [type, { schema }])), ...(action.body !== 'delete' && { required: true }) };
}

const OPERATION: Readonly<Record<string, string>> = {
  list: 'list',
  post: 'create',
  deletecollection: 'delete',
  get: 'read',
  put: 'replace',
  patch: 'patch',
  delete: 'delete',
};

function operationId(info: ResourceInfo, target: ResourceInfo | SubresourceInfo, action: Action, scoped: boolean): string {
  const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
  const group = info.group === '' ? 'Core' : upper(info.group.split('.')[0]!);
  const scope = info.namespaced && scoped ? 'Namespaced' : '';
  const collection = action.action === 'deletecollection' ? 'Collection' : '';
  const sub = 'name' in target ? upper(target.name) : '';
  const everywhere = info.namespaced && !scoped ? 'ForAllNamespaces' : '';
  return `${OPERATION[action.action]}${group}${upper(info.version)}${collection}${scope}${info.kind}${sub}${everywhere}`;
}
