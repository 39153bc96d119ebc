import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamLocation } from '../contract/index.ts';
import type { LiveSource } from './live-source.ts';
import type { NodeAddress } from './node-client.ts';
import type { RemoteSources } from './remote-source.ts';

const LOOK_MS = 100;

interface Options {
  local: LiveSource;
  remote: Pick<RemoteSources, 'on'>;
  /** Returns the node ID of the media role on this machine's folder; null when there was none. */
  ownNodeId(): Promise<string | null>;
  /** Returns the location of a stream; undefined when nothing was published to it. */
  placeOf(streamId: string): Promise<StreamLocation | undefined>;
}

/** Reads each stream where it is: out of this machine's folder, or from the node that has it. */
export function createSourceSelector({ local, remote, ownNodeId, placeOf }: Options): LiveSource {
  const of = async (streamId: string): Promise<LiveSource> => {
    const place = await placeOf(streamId);
    if (place === undefined || place.url === null || place.nodeId === (await ownNodeId())) return local;
    const node: NodeAddress = { nodeId: place.nodeId, url: place.url };
    return remote.on(node);
  };
  return {
    text: async (streamId, name) => (await of(streamId)).text(streamId, name),
    // Waiters get the error at their next read.
    next: (streamId) =>
      of(streamId).then(
        (source) => source.next(streamId),
        () => sleep(LOOK_MS),
      ),
    part: async (place, range) => (await of(place.streamId)).part(place, range),
    open: async (place) => (await of(place.streamId)).open(place),
    picture: async (streamId) => (await of(streamId)).picture(streamId),
  };
}
