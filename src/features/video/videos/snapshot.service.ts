import type { SnapshotSource } from '../../../kernel/snapshots.ts';
import type { PlayableAudio, PlayableRendition } from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { VideoSnapshot } from '../../audience/playback/index.ts';
import * as repository from './snapshot.repository.ts';
import { VIDEO_TOPIC } from './with-locked-video.ts';

/** Creates the source of video data for playback. */
export function createVideoSnapshots({ db, bus }: { db: Db; bus: Bus }): SnapshotSource<VideoSnapshot> {
  return {
    find: async (id) => {
      const row = await repository.findSnapshot(db, id);
      return row && toSnapshot(row);
    },
    onChanged: (listener) => void bus.subscribe(VIDEO_TOPIC, listener),
  };
}

function toSnapshot(row: repository.SnapshotRow): VideoSnapshot {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    accountId: row.account_id,
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    tierIds: row.tier_ids,
    priceCents: row.price_cents,
    hasFailed: row.status === 'FAILED',
    originalKey: row.original_key,
    durationSec: row.duration_sec,
    width: row.width,
    height: row.height,
    rungs: row.renditions.flatMap((rendition) => {
      const { kind, width, height, frame_rate: frameRate, video_range: videoRange } = rendition;
      const { iframe_bitrate: iframeBitrate } = rendition;
      const files = toPlayable(rendition);
      if (kind !== 'VIDEO' || files === null || width === null || height === null) return [];
      return [{ ...files, width, height, frameRate, videoRange, iframeBitrate }];
    }),
    audio: row.renditions
      .flatMap(toPlayableAudio)
      .toSorted((a, b) => a.track - b.track || a.channels - b.channels),
    captions: row.captions,
    chapters: row.chapters,
    imageFolder: row.image_folder,
    former: {
      paths: row.formers.flatMap(({ folder, name }) => (folder === null ? [] : [`${folder}/${name}`])),
      imageFolders: row.formers.flatMap(({ previous_image_folder: folder }) => folder ?? []),
      captions: row.formers.flatMap(({ previous_captions: files }) => files),
    },
    hasStoryboard: row.has_storyboard,
    thumbnailFile: row.thumbnail_file,
    viewCount: row.view_count,
    publishedAt: row.published_at,
    createdAt: row.created_at,
    mode: row.mode,
    creator: { username: row.username, name: row.name },
    embedHosts: row.embed_mode === 'OPEN' ? null : row.embed_domains,
  };
}

function toPlayableAudio(rendition: repository.SnapshotRow['renditions'][number]): PlayableAudio[] {
  const { kind, track, language, label, channels, is_description: isDescription } = rendition;
  const files = toPlayable(rendition);
  if (kind !== 'AUDIO' || files === null) return [];
  const facts = { track: track ?? 0, language, label: label ?? '', channels: channels ?? 0, isDescription };
  return [{ ...files, ...facts }];
}

function toPlayable(row: repository.SnapshotRow['renditions'][number]): PlayableRendition | null {
  const { name, folder, codecs, average_bitrate: average, peak_bitrate: peak } = row;
  if (folder === null || codecs === null) return null;
  return { path: `${folder}/${name}`, codecs, averageBitrate: average ?? 0, peakBitrate: peak ?? 0 };
}
