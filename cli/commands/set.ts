/** `set`: its sub-verbs. */
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  usage: 'SUBCOMMAND',
  verbs: {
    env: { summary: 'Update environment variables on a pod template', load: async () => (await import('./set-env.ts')).verb },
    image: { summary: 'Update the image of a pod template', load: async () => (await import('./set-image.ts')).verb },
    resources: {
      summary: 'Update resource requests/limits on objects with pod templates',
      load: async () => (await import('./set-resources.ts')).verb,
    },
  },
};
