/** A claim with access mode ReadWriteOncePod serves one pod at a time, wherever it runs. */
import { type Plugin, unschedulable } from '../framework/plugin.ts';

const rejection = unschedulable(
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
);

export const volumeRestrictions: Plugin = {
  name: 'VolumeRestrictions',
  prefilter: ({ namespace, claims }, snapshot) => {
    const exclusive = claims.filter((name) => snapshot.lookup.claim(namespace, name)?.spec?.accessModes?.includes('ReadWriteOncePod'));
    const users = exclusive.reduce((sum, name) => sum + snapshot.claimUsers(namespace, name), 0);
    if (users === 0) return {};
    // Thought away for preemption, a user frees the claim.
    let left = users;
    const uses = (other: { namespace: string; claims: readonly string[] }): number =>
      other.namespace === namespace ? other.claims.filter((claim) => exclusive.includes(claim)).length : 0;
    return {
      filter: () => (left > 0 ? rejection : undefined),
      removePod: (other) => {
        left -= uses(other);
      },
      addPod: (other) => {
        left += uses(other);
      },
    };
  },
  mayHelp: (_pod, event) => event.kind === 'pod-removed' || event.kind === 'claim' || event.kind === 'own-update',
};
