/**
 * The life of one simulated container as a pure function of its behaviour and the time: pulling → starting → running → exited.
 *
 * Invariant: what a container is at time T depends only on its record and T, never on whether the kubelet was running in between.
 * So a restarted kubelet finds each container where it would have been.
 */
import type { ResourceRequirements } from '../../machinery/api/types/core.v1.ts';
import type { Behaviour } from './behaviour.ts';
import type { Step } from './command.ts';
import type { LogLine, RuntimeContainer } from './interface.ts';

export interface SimulatedContainer extends RuntimeContainer {
  readonly behaviour: Behaviour;
  /** When pulling or starting ends. */
  dueAtMs: number;
  /** When SIGTERM is delivered, after a preStop hook. */
  termAtMs?: number;
  killAtMs?: number;
  /** When the run has `next` as its resources. */
  resizedAtMs?: number;
  next?: ResourceRequirements;
}

const MAX_LINES = 10_000;

/** Brings the container up to `nowMs`; true when anything changed. */
export function advance(container: SimulatedContainer, nowMs: number, newId: () => string): boolean {
  let changed = false;
  if (container.state === 'pulling' && nowMs >= container.dueAtMs) {
    changed = true;
    if (container.behaviour.pullError !== undefined) {
      container.state = 'pull-failed';
      container.pullError = container.behaviour.pullError;
      container.pullFailedAtMs = container.dueAtMs;
    } else {
      container.state = 'starting';
      container.dueAtMs += container.behaviour.startMs;
    }
  }
  if (container.state === 'starting' && (nowMs >= container.dueAtMs || container.killAtMs !== undefined)) {
    changed = true;
    if (container.createError !== undefined) container.state = 'create-failed';
    else begin(container, newId());
  }
  if (container.state === 'running') {
    const end = endOf(container);
    if (nowMs >= end.atMs) {
      finish(container, end);
      return true;
    }
    if (nowMs >= (container.resizedAtMs ?? Number.POSITIVE_INFINITY)) {
      resized(container);
      changed = true;
    }
    const { startedAfterMs, readyAfterMs, unhealthyAfterMs } = container.behaviour;
    const ranMs = nowMs - container.startedAtMs;
    const probed = {
      started: reached(ranMs, startedAfterMs),
      ready: reached(ranMs, readyAfterMs),
      healthy: !reached(ranMs, unhealthyAfterMs),
    };
    if (probed.started !== container.started || probed.ready !== container.ready || probed.healthy !== container.healthy) {
      Object.assign(container, probed);
      changed = true;
    }
  }
  return changed;
}

function resized(container: SimulatedContainer): void {
  container.resources = container.next ?? {};
  container.resizing = false;
  delete container.resizedAtMs;
  delete container.next;
}

const reached = (ranMs: number, afterMs: number | null): boolean => afterMs !== null && ranMs >= afterMs;

function begin(container: SimulatedContainer, id: string): void {
  container.state = 'running';
  container.id = id;
  container.startedAtMs = container.dueAtMs;
  container.started = false;
  container.ready = false;
  container.healthy = true;
}

interface End {
  readonly atMs: number;
  readonly exitCode: number;
  readonly reason: string;
}

function endOf(container: SimulatedContainer): End {
  const { script, stopMs, oom } = container.behaviour;
  const own: End = {
    atMs: script.after === 'end' ? container.startedAtMs + lengthOf(script.steps) : Number.POSITIVE_INFINITY,
    exitCode: script.code,
    reason: oom ? 'OOMKilled' : script.code === 0 ? 'Completed' : 'Error',
  };
  const term: End = {
    atMs: container.termAtMs === undefined || stopMs === null ? Number.POSITIVE_INFINITY : container.termAtMs + stopMs,
    exitCode: 0,
    reason: 'Completed',
  };
  const kill: End = { atMs: container.killAtMs ?? Number.POSITIVE_INFINITY, exitCode: 137, reason: 'Error' };
  return [own, term, kill].reduce((first, other) => (other.atMs < first.atMs ? other : first));
}

function finish(container: SimulatedContainer, end: End): void {
  container.state = 'exited';
  container.ready = false;
  container.started = false;
  container.exit = {
    id: container.id,
    startedAtMs: container.startedAtMs,
    finishedAtMs: Math.max(end.atMs, container.startedAtMs),
    exitCode: end.exitCode,
    reason: end.reason,
  };
}

/** When the container will next change by itself; undefined when never. */
export function nextChangeAt(container: SimulatedContainer): number | undefined {
  if (container.state === 'pulling' || container.state === 'starting') return container.dueAtMs;
  if (container.state !== 'running') return undefined;
  const { startedAfterMs, readyAfterMs, unhealthyAfterMs } = container.behaviour;
  const times = [endOf(container).atMs, container.resizedAtMs ?? Number.POSITIVE_INFINITY];
  if (!container.started && startedAfterMs !== null) times.push(container.startedAtMs + startedAfterMs);
  if (!container.ready && readyAfterMs !== null) times.push(container.startedAtMs + readyAfterMs);
  if (container.healthy && unhealthyAfterMs !== null) times.push(container.startedAtMs + unhealthyAfterMs);
  const next = Math.min(...times);
  return Number.isFinite(next) ? next : undefined;
}

const lengthOf = (steps: readonly Step[]): number => steps.reduce((sum, step) => sum + (step.do === 'wait' ? step.ms : 0), 0);

/** What a run that began at `startedAtMs` has printed until `untilMs`, at most the last 10,000 lines, and when it prints next. */
export function linesOf(behaviour: Behaviour, startedAtMs: number, untilMs: number): { lines: LogLine[]; nextAtMs?: number } {
  const { steps, after } = behaviour.script;
  const lines: LogLine[] = [];
  const round = lengthOf(steps);
  let atMs = startedAtMs;
  if (after === 'repeat' && round > 0) {
    const perRound = Math.max(1, steps.filter((step) => step.do === 'log').length);
    const skip = Math.floor((untilMs - startedAtMs) / round) - Math.ceil(MAX_LINES / perRound);
    if (skip > 0) atMs += skip * round;
  }
  for (;;) {
    for (const step of steps) {
      if (step.do === 'wait') atMs += step.ms;
      if (step.do !== 'log') continue;
      if (atMs > untilMs) return { lines: lines.slice(-MAX_LINES), nextAtMs: atMs };
      lines.push({ atMs, text: step.text, stream: step.stream });
    }
    if (after !== 'repeat' || round <= 0) return { lines: lines.slice(-MAX_LINES) };
  }
}
