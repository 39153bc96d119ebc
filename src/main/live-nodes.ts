import { join } from 'node:path';
import { lastKnownFor } from '../features/audience/playback/module.ts';
import type { MediaNodes } from '../features/live/streams/index.ts';
import { createMediaNodes } from '../features/live/streams/module.ts';
import { type FeatureModule, INTERVALS } from '../features/module.ts';
import type { Platform } from '../features/platform.ts';
import { createSnapshots } from '../kernel/snapshots.ts';
import type { StreamLocation } from '../media/contract/index.ts';
import type { LiveSource } from '../media/nodes/live-source.ts';
import { createLocalSource } from '../media/nodes/local-source.ts';
import { createNodeClient } from '../media/nodes/node-client.ts';
import { createRemoteSources } from '../media/nodes/remote-source.ts';
import { createSourceOfNode, createSourceSelector } from '../media/nodes/source-selector.ts';
import { createNodeFolders } from './media/node-id.ts';

interface LiveNodes {
  mediaNodes: MediaNodes;
  /** The live windows of all streams, on all nodes. */
  liveSource: LiveSource;
  /** Returns the live source of one node; null when it has no address. */
  liveSourceOf(place: StreamLocation): Promise<LiveSource | null>;
  /**
   * Reports the state of a broadcast that its media node knows; null when the node does not tell, or tells only
   * from now on.
   */
  isLiveOnNode(streamId: string): Promise<boolean | null>;
}

/** Live streams of this node and of others. */
export function createLiveNodesModule(
  platform: Pick<Platform, 'bus' | 'clock' | 'config' | 'db' | 'log' | 'metrics' | 'secrets'>,
): FeatureModule & LiveNodes {
  const { config, secrets, clock, log, metrics } = platform;
  const mediaNodes = createMediaNodes(platform);
  const places = createSnapshots(mediaNodes.places, 'str', {
    lastKnown: lastKnownFor(config.LIVE_WITHOUT_DATABASE_SEC * 1000),
  });
  const remote = createRemoteSources(
    createNodeClient({ secrets, clock, log, onAsked: (kind, outcome) => metrics.liveAsked(kind, outcome) }),
  );
  const sourceIn = createFolderSources(log);
  const folderOf = createNodeFolders(config.DATA_DIR);
  const localOf = async (nodeId: string) => {
    const folder = await folderOf(nodeId);
    return folder === null ? null : sourceIn(folder);
  };
  const sourceOf = createSourceOfNode({ localOf, remote });
  const placeOf = (streamId: string) => places.get(streamId);
  return {
    mediaNodes,
    liveSource: createSourceSelector({ main: sourceIn(config.DATA_DIR), sourceOf, placeOf }),
    liveSourceOf: sourceOf,
    async isLiveOnNode(streamId) {
      const place = await placeOf(streamId).catch(() => undefined);
      if (place === undefined || place.url === null) return null;
      // The media nodes of this machine are asked like any other.
      return remote.isLive({ nodeId: place.nodeId, url: place.url }, streamId);
    },
    tasks: () => [{ name: 'media nodes', everyMs: INTERVALS.hour, run: () => mediaNodes.forget() }],
    close: () => remote.close(),
  };
}

/** Returns a function that returns the live source of the data folder of a media process. */
function createFolderSources(log: Platform['log']): (folder: string) => LiveSource {
  const sources = new Map<string, LiveSource>();
  return (folder) => {
    const source = sources.get(folder) ?? createLocalSource({ liveDir: join(folder, 'live'), log });
    sources.set(folder, source);
    return source;
  };
}
