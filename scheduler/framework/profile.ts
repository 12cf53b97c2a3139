/** The plugins of the default profile, in upstream's order: the first that rejects a node gives the reason. */
import { balancedAllocation } from '../plugins/balanced-allocation.ts';
import { dynamicResources } from '../plugins/dynamic-resources.ts';
import { imageLocality } from '../plugins/image-locality.ts';
import { interPodAffinity } from '../plugins/inter-pod-affinity.ts';
import { nodeAffinity } from '../plugins/node-affinity.ts';
import { nodeName } from '../plugins/node-name.ts';
import { nodePorts } from '../plugins/node-ports.ts';
import { nodeResourcesFit } from '../plugins/node-resources-fit.ts';
import { nodeUnschedulable } from '../plugins/node-unschedulable.ts';
import { podTopologySpread } from '../plugins/pod-topology-spread.ts';
import { schedulingGates } from '../plugins/scheduling-gates.ts';
import { taintToleration } from '../plugins/taint-toleration.ts';
import { volumeBinding } from '../plugins/volume-binding.ts';
import { volumeRestrictions } from '../plugins/volume-restrictions.ts';
import type { Plugin } from './plugin.ts';

export const defaultProfile: readonly Plugin[] = [
  schedulingGates,
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  volumeBinding,
  podTopologySpread,
  interPodAffinity,
  dynamicResources,
  balancedAllocation,
  imageLocality,
];
