/** `rollout`: its sub-verbs, one file each. */
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: 'SUBCOMMAND',
  verbs: {
    history: { summary: 'View rollout history', load: async () => (await import('./rollout-history.ts')).verb },
    pause: { summary: 'Mark the provided resource as paused', load: async () => (await import('./rollout-pause.ts')).pause },
    restart: { summary: 'Restart a resource', load: async () => (await import('./rollout-restart.ts')).verb },
    resume: { summary: 'Resume a paused resource', load: async () => (await import('./rollout-pause.ts')).resume },
    status: { summary: 'Show the status of the rollout', load: async () => (await import('./rollout-status.ts')).verb },
    undo: { summary: 'Undo a previous rollout', load: async () => (await import('./rollout-undo.ts')).verb },
  },
};
