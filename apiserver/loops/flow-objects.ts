/**
 * The flow control objects of the server itself: they are there from the start, come back when deleted, follow their built-in form as long as their
 * annotation says so, and every flow schema tells whether its priority level exists. Mirrors kubernetes
 * `pkg/registry/flowcontrol/{ensurer,rest}` and apiserver `util/flowcontrol/apf_controller.go`.
 *
 * What to do is decided from what is stored, never from what changed; a change only says that it is time to look.
 */
import { deepEqual } from '../../machinery/api/equality.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { formatTime } from '../../machinery/api/time.ts';
import type {
  FlowSchema,
  FlowSchemaCondition,
  PriorityLevelConfiguration,
} from '../../machinery/api/types/flowcontrol.apiserver.k8s.io.v1.ts';
import type { Api } from '../handlers/api.ts';
import { change } from '../handlers/update.ts';
import { internalContext } from '../http/internal-context.ts';
import { MANDATORY_LEVELS, MANDATORY_SCHEMAS } from '../registry/flowcontrol/mandatory.ts';
import { SUGGESTED_LEVELS, SUGGESTED_SCHEMAS } from '../registry/flowcontrol/suggested.ts';
import { applyStatus, runLevelLoop } from './level-triggered.ts';

const GROUP = 'flowcontrol.apiserver.k8s.io';
const LEVELS = 'prioritylevelconfigurations';
const SCHEMAS = 'flowschemas';
const AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec';
const PRODUCER = 'api-priority-and-fairness-config-producer-v1';
const CONSUMER = 'api-priority-and-fairness-config-consumer-v1';
const INTERVAL_MS = 60_000;

interface Wanted {
  readonly resource: string;
  readonly kind: string;
  readonly name: string;
  readonly spec: object;
  /** Nobody may change it, so that what the annotation says does not count. */
  readonly isMandatory: boolean;
}

function wantedOf(kind: string, resource: string, isMandatory: boolean, specs: ReadonlyMap<string, object>): Wanted[] {
  return [...specs].map(([name, spec]) => ({ resource, kind, name, spec, isMandatory }));
}

const WANTED: readonly Wanted[] = [
  ...wantedOf('PriorityLevelConfiguration', LEVELS, true, MANDATORY_LEVELS),
  ...wantedOf('PriorityLevelConfiguration', LEVELS, false, SUGGESTED_LEVELS),
  ...wantedOf('FlowSchema', SCHEMAS, true, MANDATORY_SCHEMAS),
  ...wantedOf('FlowSchema', SCHEMAS, false, SUGGESTED_SCHEMAS),
];

/** Makes what is missing and puts right what follows its built-in form. Together, so that the writes share a group commit. */
export async function ensureFlowObjects(api: Api): Promise<void> {
  await Promise.all(WANTED.map((wanted) => ensure(api, wanted)));
}

type WithSpec = KubeObject & { spec?: object };

async function ensure(api: Api, wanted: Wanted): Promise<void> {
  const live = api.reader.get<WithSpec>(GROUP, wanted.resource, '', wanted.name);
  const next = live === undefined ? made(wanted) : followed(live, wanted);
  if (next === undefined) return;
  const served = api.catalog.known(GROUP, 'v1', wanted.resource)!;
  const options = { dryRun: false, fieldManager: PRODUCER, fieldValidation: 'Ignore' as const, force: false };
  const request = { served, options, subresource: '', create: true, put: true, next: () => structuredClone(next) };
  await change(api, internalContext('update', '', wanted.name), request);
}

const made = ({ kind, name, spec }: Wanted): WithSpec => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: { name, annotations: { [AUTO_UPDATE]: 'true' } },
  spec,
});

/**
 * What a live object should become; undefined when it is well. An object whose annotation does not say whether it follows does so as long as nobody
 * has touched its spec. What the exempt level lends is its owner's affair.
 */
export function followed(live: WithSpec, { spec, isMandatory }: Pick<Wanted, 'spec' | 'isMandatory'>): WithSpec | undefined {
  const said = live.metadata.annotations?.[AUTO_UPDATE];
  const follows = isMandatory || (said === 'true' || said === 'false' ? said === 'true' : live.metadata.generation === 1);
  const isSame = deepEqual({ ...live.spec, exempt: undefined }, { ...spec, exempt: undefined });
  if (said === String(follows) && (isSame || !follows)) return undefined;
  const metadata = { ...live.metadata, annotations: { ...live.metadata.annotations, [AUTO_UPDATE]: String(follows) } };
  return { ...live, metadata, spec: follows && !isSame ? spec : (live.spec ?? {}) };
}

/** What a schema should say of its level; undefined when it says so already. */
export function danglingCondition(schema: FlowSchema, levels: ReadonlySet<string>, now: Date): FlowSchemaCondition | undefined {
  const level = schema.spec?.priorityLevelConfiguration?.name ?? '';
  const exists = levels.has(level);
  const wanted = {
    type: 'Dangling',
    status: exists ? 'False' : 'True',
    reason: exists ? 'Found' : 'NotFound',
    message: `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} ${exists ? 'and it exists' : 'but there is no such object'}`,
  };
  const said = schema.status?.conditions?.find(({ type }) => type === wanted.type);
  const isSaid = said !== undefined && (['status', 'reason', 'message'] as const).every((member) => said[member] === wanted[member]);
  return isSaid ? undefined : { ...wanted, lastTransitionTime: formatTime(now) };
}

/** One pass over all schemas. */
export async function tellDangling(api: Api): Promise<void> {
  const levels = new Set(api.reader.list<PriorityLevelConfiguration>(GROUP, LEVELS).map(({ metadata }) => metadata.name ?? ''));
  const told = api.reader.list<FlowSchema>(GROUP, SCHEMAS).map(async (schema) => {
    const condition = danglingCondition(schema, levels, api.clock.now());
    if (condition === undefined) return;
    const name = schema.metadata.name ?? '';
    const status = { conditions: [condition] };
    await applyStatus(api, { group: GROUP, resource: SCHEMAS, kind: 'FlowSchema', name, manager: CONSUMER, status });
  });
  await Promise.all(told);
}

/** Runs until the signal aborts. */
export function runFlowObjects(api: Api, signal: AbortSignal): Promise<void> {
  const pass = async (isDue: boolean): Promise<void> => {
    if (isDue) await ensureFlowObjects(api);
    await tellDangling(api);
  };
  const complaint = 'a flow control object could not be put right';
  return runLevelLoop(api, { prefixes: [`/${GROUP}/`], intervalMs: INTERVAL_MS, complaint, pass }, signal);
}
