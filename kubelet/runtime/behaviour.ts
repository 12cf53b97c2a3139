/**
 * How a simulated container behaves, as data: decided once from the pod, never changed while it runs. The table below is documented in docs/simulated-nodes.md.
 *
 * Strongest first: annotations of the pod, the command, the image's name, the default.
 *
 *   annotation (on the pod; `flyball.dev/<key>.<container>` for one container)    meaning
 *     flyball.dev/exit-code: "3"          ends with this code (at once, or after run-time)
 *     flyball.dev/run-time: "5s"          ends after this time, with exit-code or 0
 *     flyball.dev/start-time: "2s"        takes this long to start
 *     flyball.dev/pull-time: "2s"         its image takes this long to pull
 *     flyball.dev/pull-error: "text"      its image cannot be pulled
 *     flyball.dev/stop-time: "3s"         takes this long to end after SIGTERM; `never`: only SIGKILL ends it
 *     flyball.dev/ready: "false" | "10s"  readiness probe fails, or succeeds only after this time
 *     flyball.dev/live: "false" | "10s"   liveness probe fails at once, or after this time
 *     flyball.dev/oom: "true"             is killed for memory: OOMKilled, 137
 *     flyball.dev/log: "text"             prints this line instead of the default one
 *     flyball.dev/log-every: "1s"         prints its line that often
 *   command        see command.ts
 *   image          name contains `crash` or `fail`: ends with 1 at once; `oom`: killed for memory; `hello-world`, `complete`: ends with 0 at once;
 *                  `slow-start`: starts in 5 s; `stubborn`: ignores SIGTERM; name contains `pull-error`, `no-such` or `does-not-exist`, host ends in `.invalid`,
 *                  or tag `missing`: cannot be pulled; `busybox`, `alpine`: a shell, which ends with 0 at once unless the container has `stdin`
 *   default        runs until it is stopped, starts in a few milliseconds, prints one line, ends at once on SIGTERM; the containers of a Job's pods end with 0 at once
 */
import { parseDuration } from '../../machinery/api/duration.ts';
import { controllerOf } from '../../machinery/api/object.ts';
import type { Container, Pod, Probe } from '../../machinery/api/types/core.v1.ts';
import { type Script, scriptOf } from './command.ts';
import type { ContainerRole } from './interface.ts';

export interface Behaviour {
  readonly pullMs: number;
  /** Why the image cannot be pulled. */
  readonly pullError?: string;
  readonly startMs: number;
  readonly script: Script;
  /** Null: only SIGKILL ends it. */
  readonly stopMs: number | null;
  /** After how many ms of running the startup probe succeeds; null: never. */
  readonly startedAfterMs: number | null;
  /** After how many ms of running the readiness probe succeeds; null: never. */
  readonly readyAfterMs: number | null;
  /** After how many ms of running the liveness (or startup) probe has failed so often that the container must be killed; null: never. */
  readonly unhealthyAfterMs: number | null;
  readonly oom: boolean;
}

const PREFIX = 'flyball.dev/';
const START_MS = 2;
const SLOW_MS = 5000;

export function behaviourOf(pod: Pod, container: Container, role: ContainerRole): Behaviour {
  const read = (key: string): string | undefined => {
    const annotations = pod.metadata.annotations;
    return annotations?.[`${PREFIX}${key}.${container.name}`] ?? (role === 'app' ? annotations?.[PREFIX + key] : undefined);
  };
  const image = withInput(container, byImage(container.image ?? ''));
  const script = scriptFrom(read, scriptOf(container.command ?? [], container.args ?? []), image) ?? defaultScript(pod, container, role);
  const oom = read('oom') === 'true' || (image.oom === true && !container.command?.length);
  const stop = read('stop-time');
  const pullError = read('pull-error') ?? (image.unpullable ? notFoundText(container.image ?? '') : undefined);
  return {
    pullMs: durationMs(read('pull-time')) ?? 0,
    ...(pullError !== undefined && { pullError }),
    startMs: durationMs(read('start-time')) ?? image.startMs ?? START_MS,
    script: oom ? { steps: script.steps, after: 'end', code: 137, obeysTerm: true } : script,
    stopMs: stop === 'never' || (stop === undefined && (image.stubborn || !script.obeysTerm)) ? null : (durationMs(stop) ?? 0),
    ...probes(container, read),
    oom,
  };
}

/** Probes that the container does not have always succeed; those it has succeed at their first try unless an annotation says otherwise. */
function probes(
  container: Container,
  read: (key: string) => string | undefined,
): Pick<Behaviour, 'startedAfterMs' | 'readyAfterMs' | 'unhealthyAfterMs'> {
  const first = (probe: Probe | undefined): number => (probe?.initialDelaySeconds ?? 0) * 1000;
  const patience = (probe: Probe): number =>
    ((probe.failureThreshold ?? 3) - 1) * (probe.periodSeconds ?? 10) * 1000 + (probe.timeoutSeconds ?? 1);
  const startedAfterMs = first(container.startupProbe);
  const live = read('live');
  const failsAfter = live === 'false' ? 0 : durationMs(live);
  const ready = read('ready');
  return {
    startedAfterMs,
    readyAfterMs:
      ready === 'false' || ready === 'never' ? null : Math.max(startedAfterMs, durationMs(ready) ?? first(container.readinessProbe)),
    unhealthyAfterMs:
      failsAfter === undefined || !container.livenessProbe
        ? null
        : Math.max(startedAfterMs, first(container.livenessProbe), failsAfter) + patience(container.livenessProbe),
  };
}

function scriptFrom(read: (key: string) => string | undefined, command: Script | undefined, image: ImageBehaviour): Script | undefined {
  const runMs = durationMs(read('run-time'));
  const code = read('exit-code');
  const log = read('log');
  const every = durationMs(read('log-every'));
  const first = log === undefined ? [] : log.split('\n').map((text) => ({ do: 'log', text, stream: 'stdout' }) as const);
  if (runMs !== undefined || code !== undefined) {
    return {
      steps: [...first, { do: 'wait', ms: runMs ?? 0 }],
      after: 'end',
      code: Number.parseInt(code ?? '0', 10) & 255,
      obeysTerm: true,
    };
  }
  if (every !== undefined) {
    const text = log ?? 'line';
    return {
      steps: [
        { do: 'log', text, stream: 'stdout' },
        { do: 'wait', ms: Math.max(every, 10) },
      ],
      after: 'repeat',
      code: 0,
      obeysTerm: true,
    };
  }
  if (command) return first.length > 0 ? { ...command, steps: [...first, ...command.steps] } : command;
  if (image.code !== undefined)
    return { steps: first.length > 0 ? first : (image.log ?? []), after: 'end', code: image.code, obeysTerm: true };
  return first.length > 0 ? { steps: first, after: 'run', code: 0, obeysTerm: true } : undefined;
}

function defaultScript(pod: Pod, container: Container, role: ContainerRole): Script {
  const ends = (role === 'init' && container.restartPolicy !== 'Always') || controllerOf(pod)?.kind === 'Job';
  return {
    steps: [{ do: 'log', text: `${container.name} of pod ${pod.metadata.name ?? ''} started`, stream: 'stdout' }],
    after: ends ? 'end' : 'run',
    code: 0,
    obeysTerm: true,
  };
}

interface ImageBehaviour {
  readonly code?: number;
  readonly log?: Script['steps'];
  readonly oom?: boolean;
  readonly unpullable?: boolean;
  readonly startMs?: number;
  readonly stubborn?: boolean;
  /** Its own command is a shell. */
  readonly shell?: boolean;
}

/** A shell that can be typed into waits for input. */
const withInput = (container: Container, image: ImageBehaviour): ImageBehaviour => (image.shell && container.stdin ? { log: [] } : image);

function byImage(image: string): ImageBehaviour {
  const { host, name, tag } = splitImage(image);
  if (tag === 'missing' || /pull-error|no-such|does-not-exist|doesnotexist|nonexistent/.test(name) || host.endsWith('.invalid'))
    return { unpullable: true };
  if (/(^|[/-])(crash\w*|fail(s|ing)?)($|[/-])/.test(name))
    return { code: 1, log: [{ do: 'log', text: 'fatal: simulated crash', stream: 'stderr' }] };
  if (/(^|[/-])oom/.test(name)) return { code: 137, oom: true };
  if (/(^|\/)hello-world$/.test(name)) return { code: 0, log: [{ do: 'log', text: 'Hello from Docker!', stream: 'stdout' }] };
  if (/(^|[/-])complete/.test(name)) return { code: 0, log: [] };
  if (/(^|\/)(busybox|alpine)$/.test(name)) return { code: 0, log: [], shell: true };
  if (/slow-start/.test(name)) return { startMs: SLOW_MS };
  if (/stubborn/.test(name)) return { stubborn: true };
  return {};
}

/** `host/name:tag@digest` in its parts; the host is '' for images of the default registry. */
function splitImage(image: string): { host: string; name: string; tag: string } {
  const bare = image.split('@')[0] as string;
  const colon = bare.lastIndexOf(':');
  const hasTag = colon > bare.lastIndexOf('/');
  const path = hasTag ? bare.slice(0, colon) : bare;
  const slash = path.indexOf('/');
  const head = slash < 0 ? '' : path.slice(0, slash);
  const host = /[.:]|^localhost$/.test(head) ? head : '';
  return { host, name: host ? path.slice(slash + 1) : path, tag: hasTag ? bare.slice(colon + 1) : 'latest' };
}

/** The reference as containerd spells it: `docker.io/library/nginx:latest`. */
export function fullReference(image: string): string {
  const { host, name, tag } = splitImage(image);
  const path = host ? `${host}/${name}` : `docker.io/${name.includes('/') ? '' : 'library/'}${name}`;
  return image.includes('@') ? `${path}@${image.split('@')[1]}` : `${path}:${tag}`;
}

function notFoundText(image: string): string {
  const full = fullReference(image);
  return `failed to pull and unpack image "${full}": failed to resolve image: ${full}: not found`;
}

function durationMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  try {
    return Math.max(0, parseDuration(text));
  } catch {
    return undefined;
  }
}
