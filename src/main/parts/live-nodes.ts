import { join } from 'node:path';
import { createSnapshots, STREAM_ID } from '../../features/audience/playback/index.ts';
import { createMediaNodes, type MediaNodes } from '../../features/live/streams/index.ts';
import type { LiveSource } from '../../media/nodes/live-source.ts';
import { createLocalSource } from '../../media/nodes/local-source.ts';
import { createNodeClient } from '../../media/nodes/node-client.ts';
import { createRemoteSources, type RemoteSources } from '../../media/nodes/remote-source.ts';
import { createSourceSelector } from '../../media/nodes/source-selector.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import { createNodeIdReader } from '../node-id.ts';
import type { BaseContext } from '../wiring.ts';

interface Gives {
  mediaNodes: MediaNodes;
  /** The live windows of all streams, wherever they are. */
  liveSource: LiveSource;
  /** Live sources of other nodes. */
  remoteLive: Pick<RemoteSources, 'on'>;
}

/** Live streams of this node and of others. */
export function liveNodesPart(needs: BaseContext): ModuleWithExports<Gives> {
  const { config, secrets, clock, log, metrics } = needs;
  const mediaNodes = createMediaNodes(needs);
  const places = createSnapshots(mediaNodes.places, STREAM_ID);
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
    exports: { mediaNodes, liveSource, remoteLive: remote },
    module: {
      tasks: () => [{ name: 'media nodes', everyMs: INTERVALS.hour, run: () => mediaNodes.forget() }],
      close: () => remote.close(),
    },
  };
}
