import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Db } from '../../../platform/db/index.ts';

/** Finds the public data of a video, in any workspace, since viewers have none. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one statement.
export function findSnapshot(db: Db, id: string) {
  return db
    .selectFrom('video')
    .innerJoin('workspace', 'workspace.id', 'video.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .leftJoin('channel', 'channel.workspace_id', 'video.workspace_id')
    .select((eb) => eb.fn.coalesce('channel.display_name', 'account.name').as('name'))
    .select([
      'video.id',
      'video.workspace_id',
      'video.title',
      'video.description',
      'video.visibility',
      'video.tier_ids',
      'video.price_cents',
      'video.status',
      'video.original_key',
      'video.duration_sec',
      'video.width',
      'video.height',
      'video.image_folder',
      'video.has_storyboard',
      'video.thumbnail_file',
      'video.chapters',
      'video.view_count',
      'video.published_at',
      'video.created_at',
      'workspace.mode',
      'account.id as account_id',
      'account.username',
      'account.embed_mode',
      'account.embed_domains',
    ])
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom('video_rendition as r')
          .select(['r.name', 'r.kind', 'r.folder', 'r.codecs', 'r.width', 'r.height', 'r.frame_rate'])
          .select(['r.video_range', 'r.average_bitrate', 'r.peak_bitrate', 'r.iframe_bitrate'])
          .select(['r.track', 'r.language', 'r.label', 'r.channels', 'r.is_description'])
          .whereRef('r.video_id', '=', 'video.id')
          .whereRef('r.revision', '=', 'video.revision')
          .where('r.status', '=', 'READY')
          .orderBy('r.height', 'desc'),
      ).as('renditions'),
      jsonArrayFrom(
        eb
          .selectFrom('video_caption as c')
          .select(['c.language', 'c.label', 'c.file', 'c.is_default as isDefault'])
          .whereRef('c.video_id', '=', 'video.id')
          .orderBy('c.position')
          .orderBy('c.language'),
      ).as('captions'),
      jsonArrayFrom(
        eb
          .selectFrom('video_replacement as p')
          .leftJoin('video_rendition as f', (join) =>
            join
              .onRef('f.video_id', '=', 'p.video_id')
              .onRef('f.revision', '=', 'p.previous_revision')
              .on('f.status', '=', 'READY'),
          )
          .select(['f.name', 'f.folder', 'p.previous_image_folder', 'p.previous_captions'])
          .whereRef('p.video_id', '=', 'video.id')
          .where('p.previous_kept_until', 'is not', null),
      ).as('formers'),
    ])
    .where('video.id', '=', id)
    .where('video.deleted_at', 'is', null)
    .where('video.taken_down_at', 'is', null)
    .where('account.suspended_at', 'is', null)
    .executeTakeFirst();
}

export type SnapshotRow = NonNullable<Awaited<ReturnType<typeof findSnapshot>>>;
