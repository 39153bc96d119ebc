import type { Snapshots } from '../../../../kernel/snapshots.ts';
import type { Grant } from '../access.rules.ts';
import type { Access, Viewer } from '../access.service.ts';
import type { StreamSnapshot } from './snapshot.ts';

/** Viewer who may see a stream, and the part of it that is visible now. */
export interface LiveAdmission {
  stream: StreamSnapshot;
  grant: Grant | null;
  /** Token that admitted the viewer, as a query string; empty when none was needed. */
  suffix: string;
  /** Visible media: the broadcast, the whole signal, or nothing. */
  shows: 'live' | 'preview' | null;
}

/**
 * Admits a viewer to a stream. Returns null for a missing stream and for a hidden one, which are
 * indistinguishable.
 */
export type AdmitLive = (streamId: string, viewer: Viewer) => Promise<LiveAdmission | null>;

interface Deps {
  streams: Snapshots<StreamSnapshot>;
  access: Access;
}

/**
 * Creates the admission to streams for all playback methods: open while `isLive`, for the owner while
 * `hasSignal`.
 */
export function createLiveAdmission({ streams, access }: Deps): AdmitLive {
  return async (streamId, viewer) => {
    const stream = await streams.get(streamId);
    const pass = stream === undefined ? null : await access.passFor(stream, viewer);
    if (stream === undefined || pass === null) return null;
    const isPreview = pass.grant === 'preview' && stream.hasSignal;
    return { stream, ...pass, shows: isPreview ? 'preview' : stream.isLive ? 'live' : null };
  };
}
