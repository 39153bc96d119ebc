import {
  type BridgeRuns,
  bridgeRoutes,
  createBridgeRuns,
  createBridges,
} from '../../features/bridges/index.ts';
import { lockBridgeTarget, type StreamSignals } from '../../features/streams/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

interface Needs extends Base {
  signals: StreamSignals;
}

/** Bridges; what they fetch is the media role's. */
export function bridgesPart(needs: Needs): Built<{ bridgeRuns: BridgeRuns }> {
  const { cursors, signals } = needs;
  const bridges = createBridges({ ...needs, streams: { lockTarget: lockBridgeTarget } });
  const bridgeRuns = createBridgeRuns({ ...needs, admit: (streamId) => signals.admitBridge(streamId) });
  return {
    gives: { bridgeRuns },
    part: {
      routes: () => bridgeRoutes({ bridges, cursors }),
      tasks: () => [{ name: 'bridges', everyMs: EVERY.second, run: () => bridgeRuns.sweep() }],
    },
  };
}
