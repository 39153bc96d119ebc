import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamLocation } from '../contract/index.ts';
import type { LiveSource } from './live-source.ts';
import type { RemoteSources } from './remote-source.ts';

const LOOK_MS = 100;

interface NodeOptions {
  /** Returns the source of a media process of this machine; null for nodes on other machines. */
  localOf(nodeId: string): Promise<LiveSource | null>;
  remote: Pick<RemoteSources, 'on'>;
}

/** Returns a function that finds the source of a node; null when it is elsewhere and has no address. */
export function createSourceOfNode({ localOf, remote }: NodeOptions) {
  return async ({ nodeId, url }: StreamLocation): Promise<LiveSource | null> => {
    const local = await localOf(nodeId);
    if (local !== null || url === null) return local;
    return remote.on({ nodeId, url });
  };
}

interface Options {
  /** Source of streams without a location. */
  main: LiveSource;
  sourceOf(place: StreamLocation): Promise<LiveSource | null>;
  /** Returns the location of a stream; undefined when nothing was published to it. */
  placeOf(streamId: string): Promise<StreamLocation | undefined>;
}

/** Reads each stream from its location: a folder of this machine, or another node. */
export function createSourceSelector({ main, sourceOf, placeOf }: Options): LiveSource {
  const of = async (streamId: string): Promise<LiveSource> => {
    const place = await placeOf(streamId);
    return (place && (await sourceOf(place))) ?? main;
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
