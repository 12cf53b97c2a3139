/**
 * The levels of pod security that a namespace's labels ask for. Mirrors `k8s.io/pod-security-admission/api`: enforce refuses, warn tells, audit is
 * for the audit log. Without a label of its own, warn follows enforce.
 */
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import type { PodShape, Violation } from './pod-security-checks.ts';
import { LEVEL_CHECKS } from './pod-security-restricted.ts';

const PREFIX = 'pod-security.kubernetes.io/';
const MODES = ['enforce', 'audit', 'warn'] as const;
const LEVELS = ['privileged', 'baseline', 'restricted'];
const VERSION = /^v1\.(0|[1-9][0-9]*)$/;

type Labels = Readonly<Record<string, string>> | undefined;

export interface Level {
  readonly level: string;
  readonly version: string;
}

export const levelText = ({ level, version }: Level): string => `${level}:${version}`;
export const strictness = ({ level }: Level): number => LEVELS.indexOf(level);

export function levelOf(labels: Labels, mode: 'enforce' | 'warn'): Level {
  const given = labels?.[PREFIX + mode];
  if (mode === 'warn' && given === undefined) return levelOf(labels, 'enforce');
  // what is no level is treated as the strictest
  const level = given === undefined ? 'privileged' : LEVELS.includes(given) ? given : 'restricted';
  const version = labels?.[`${PREFIX}${mode}-version`] ?? 'latest';
  return { level, version: VERSION.test(version) ? version : 'latest' };
}

export function levelLabelErrors(labels: Labels): FieldError[] {
  const errors: FieldError[] = [];
  for (const mode of MODES) {
    const level = labels?.[PREFIX + mode];
    if (level !== undefined && !LEVELS.includes(level)) {
      errors.push(invalidValue(`metadata.labels[${PREFIX}${mode}]`, level, `must be one of ${LEVELS.join(', ')}`));
    }
    const version = labels?.[`${PREFIX}${mode}-version`];
    if (version !== undefined && version !== 'latest' && !VERSION.test(version)) {
      errors.push(invalidValue(`metadata.labels[${PREFIX}${mode}-version]`, version, 'must be "latest" or "v1.x"'));
    }
  }
  return errors;
}

export function violationsOf(level: Level, pod: PodShape): Violation[] {
  return LEVEL_CHECKS[level.level]!.flatMap((check) => check(pod) ?? []);
}

export const violationsText = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');
