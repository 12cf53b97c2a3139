/** Nodes that already have the images of a pod are better, the more so the larger the images and the more common they are. */
import { MAX_SCORE, type Plugin } from '../framework/plugin.ts';

const MB = 1024 * 1024;
const MIN_BYTES = 23 * MB;
const MAX_BYTES_A_CONTAINER = 1000 * MB;

export const imageLocality: Plugin = {
  name: 'ImageLocality',
  weight: 1,
  prescore: ({ pod }, nodes, snapshot) => {
    if (!nodes.some((node) => node.images.size > 0)) return undefined;
    const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
    const images = containers.map((container) => normalized(container.image ?? ''));
    const most = MAX_BYTES_A_CONTAINER * images.length;
    const total = snapshot.nodes.length;
    return {
      score: (node) => {
        const bytes = images.reduce(
          (sum, image) => sum + Math.floor((node.images.get(image) ?? 0) * (snapshot.imageNodes(image) / total)),
          0,
        );
        return Math.floor((MAX_SCORE * (Math.min(Math.max(bytes, MIN_BYTES), most) - MIN_BYTES)) / (most - MIN_BYTES));
      },
    };
  },
};

/** An image without a tag is its `latest`. */
function normalized(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
