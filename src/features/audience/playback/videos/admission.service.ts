import type { Snapshots } from '../../../../kernel/snapshots.ts';
import { isLinkAccessible } from '../../../../kernel/visibility.ts';
import { type Grant, isEmbedAllowed, type Source } from '../access.rules.ts';
import type { Access, Viewer } from '../access.service.ts';
import type { VideoSnapshot } from './snapshot.ts';

/** Request for a video or a file of it. */
export interface MediaRequest extends Source, Viewer {
  videoId: string;
  /** Host name of the request. */
  host: string;
}

export interface Admission {
  video: VideoSnapshot;
  grant: Grant | null;
  /** Valid token as a query string that is appended to every URL; otherwise empty. */
  suffix: string;
  /** True for restricted media, which shared caches must not store. */
  isPrivate: boolean;
  /** True when a player at the source of the request may load the media. */
  mayPlay: boolean;
}

export interface Admissions {
  /** Returns null for missing and hidden videos, which get the same 404. */
  admit(visit: MediaRequest): Promise<Admission | null>;
}

interface Deps {
  videos: Snapshots<VideoSnapshot>;
  access: Access;
  /** Host names of the platform. */
  platformHosts: readonly string[];
}

export function createAdmissions({ videos, access, platformHosts }: Deps): Admissions {
  return {
    async admit({ videoId, token, asking, host, ...source }) {
      const video = await videos.get(videoId);
      const pass = video === undefined ? null : await access.passFor(video, { token, asking });
      if (video === undefined || pass === null) return null;
      const { grant, suffix } = pass;
      const { embedHosts: listed } = video;
      return {
        video,
        grant,
        suffix,
        isPrivate: suffix !== '' || listed !== null || !isLinkAccessible(video.visibility),
        mayPlay: isEmbedAllowed(source, { listed, own: [...platformHosts, host], grant }),
      };
    },
  };
}
