import { join } from 'node:path';
import type { MediaNodes } from '../features/live/streams/index.ts';
import { createMediaNodes } from '../features/live/streams/module.ts';
import { type FeatureModule, INTERVALS } from '../features/module.ts';
import type { Platform } from '../features/platform.ts';
import { createSnapshots } from '../kernel/snapshots.ts';
import type { LiveSource } from '../media/nodes/live-source.ts';
import { createLocalSource } from '../media/nodes/local-source.ts';
import { createNodeClient } from '../media/nodes/node-client.ts';
import { createRemoteSources, type RemoteSources } from '../media/nodes/remote-source.ts';
import { createSourceSelector } from '../media/nodes/source-selector.ts';
import { createNodeIdReader } from './node-id.ts';

interface LiveNodes {
  mediaNodes: MediaNodes;
  /** The live windows of all streams, wherever they are. */
  liveSource: LiveSource;
  /** Live sources of other nodes. */
  remoteLive: Pick<RemoteSources, 'on'>;
}

/** Live streams of this node and of others. */
export function createLiveNodesModule(
  platform: Pick<Platform, 'bus' | 'clock' | 'config' | 'db' | 'log' | 'metrics' | 'secrets'>,
): FeatureModule & LiveNodes {
  const { config, secrets, clock, log, metrics } = platform;
  const mediaNodes = createMediaNodes(platform);
  const places = createSnapshots(mediaNodes.places, 'str');
  const remote = createRemoteSources(
    createNodeClient({ secrets, clock, log, onAsked: (kind, outcome) => metrics.liveAsked(kind, outcome) }),
  );
  const liveSource = createSourceSelector({
    local: createLocalSource({ liveDir: join(config.DATA_DIR, 'live'), log }),
    remote,
    ownNodeId: createNodeIdReader(config.DATA_DIR),
    placeOf: (streamId) => places.get(streamId),
  });
  return {
    mediaNodes,
    liveSource,
    remoteLive: remote,
    tasks: () => [{ name: 'media nodes', everyMs: INTERVALS.hour, run: () => mediaNodes.forget() }],
    close: () => remote.close(),
  };
}
