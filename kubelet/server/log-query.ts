/**
 * What a reader of container logs may ask for, and the text of the answer. Pure. Mirrors upstream PodLogOptions as the kubelet reads them from the query.
 */
import type { LogLine } from '../runtime/interface.ts';

export interface LogQuery {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** Undefined: all. */
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly sinceMs: number | undefined;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

export function parseLogQuery(query: URLSearchParams, now: Date): LogQuery | { problem: string } {
  const flag = (name: string): boolean => {
    const value = query.get(name);
    return value !== null && !['false', '0', 'f', 'F', 'FALSE', 'False'].includes(value);
  };
  const numbers: Record<string, number | undefined> = {};
  for (const name of ['tailLines', 'limitBytes', 'sinceSeconds']) {
    const text = query.get(name);
    if (text === null || text === '') continue;
    if (!/^-?\d+$/.test(text)) return { problem: `invalid value for "${name}": ${text}` };
    numbers[name] = Number(text);
  }
  const sinceTime = query.get('sinceTime');
  if (sinceTime && Number.isNaN(Date.parse(sinceTime))) return { problem: `invalid value for "sinceTime": ${sinceTime}` };
  const stream = query.get('stream') ?? 'All';
  if (stream !== 'All' && stream !== 'Stdout' && stream !== 'Stderr') return { problem: `invalid value for "stream": ${stream}` };
  const tail = numbers['tailLines'];
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    tailLines: tail === undefined || tail < 0 ? undefined : tail,
    limitBytes: numbers['limitBytes'],
    sinceMs: sinceTime
      ? Date.parse(sinceTime)
      : numbers['sinceSeconds'] === undefined
        ? undefined
        : now.getTime() - numbers['sinceSeconds'] * 1000,
    stream,
  };
}

/** The lines to show of those printed so far; `tailLines` counts after the other conditions. */
export function selectLines(lines: readonly LogLine[], query: LogQuery): LogLine[] {
  const wanted = lines.filter(
    (line) =>
      (query.sinceMs === undefined || line.atMs >= query.sinceMs) && (query.stream === 'All' || query.stream.toLowerCase() === line.stream),
  );
  return query.tailLines === undefined ? wanted : query.tailLines === 0 ? [] : wanted.slice(-query.tailLines);
}

export function formatLine(line: LogLine, query: LogQuery): string {
  return query.timestamps ? `${nanoTime(line.atMs)} ${line.text}\n` : `${line.text}\n`;
}

/** RFC 3339 with nanoseconds, trailing zeros kept as containerd writes them. */
function nanoTime(ms: number): string {
  const whole = Math.floor(ms);
  const nanos = Math.floor((ms - whole) * 1e6);
  return new Date(whole).toISOString().replace('Z', `${String(nanos).padStart(6, '0')}Z`);
}
