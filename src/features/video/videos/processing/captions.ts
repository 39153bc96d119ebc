import { newId } from '../../../../kernel/ids.ts';
import { languageName, uniqueLabel } from '../../../../kernel/languages.ts';
import { videoPrefix } from '../../../../kernel/media-keys.ts';
import type { ProcessingNote, SourceCaptions } from '../../../../media/contract/index.ts';
import type { SourceCaption } from '../../../../platform/db/json-columns.ts';
import { showSourceCaptions } from '../captions/source.ts';
import { readWebVtt } from '../captions/webvtt.ts';
import { updateReplacement } from '../replacement/repository.ts';
import type { VideoRow } from '../repository.ts';
import type { ProcessingContext, ProcessingDeps } from './context.ts';
import { makeDir, withScratch } from './files.ts';
import { begin, commitRun, completeIfLast, type Run } from './flow.ts';
import { useOriginal } from './output.ts';
import { findProcessed, updateProcessed } from './processed.ts';
import * as repository from './repository.ts';

const TYPE = 'text/vtt; charset=utf-8';

/** Stores the captions that come with the file of a video, in addition to uploaded ones. */
export async function makeCaptions(deps: ProcessingContext, run: Run): Promise<void> {
  const video = await begin(deps, run);
  if (video === undefined) return;
  const processing = await repository.findProcessing(deps.db, video.id, video.revision);
  if (processing === undefined || processing.captions_done) return;
  const { source } = processing;
  const texts = await withScratch(deps.scratchDir, run.id, (dir) =>
    useOriginal(deps, video, run.signal, async (input) => {
      const outDir = await makeDir(dir, 'captions');
      return deps.transcoder.captions({ input, source, outDir, signal: run.signal });
    }),
  );
  const read = nameCaptions(source.captions).map((one, index) => {
    return { ...one, content: readWebVtt(texts[index] ?? '', source.zeroSec) };
  });
  const stored: SourceCaption[] = [];
  for (const { content, ...one } of read) {
    if (content === null) continue;
    const id = newId('cap');
    stored.push({ ...one, id, file: `${id}.vtt` });
    await deps.store.put(keyOf(video, `${id}.vtt`), content, TYPE);
  }
  const empty = source.captions.filter((_, index) => read[index]?.content === null).map(emptyNote);
  await publish(deps, run, video, { stored, notes: empty });
}

interface NamedCaptions {
  /** BCP 47; no two of a video have the same. */
  language: string;
  label: string;
  isDefault: boolean;
}

/**
 * Assigns a language tag to each track. A video has one captions file per tag, so the purpose of several
 * tracks of one language goes into the private-use subtag (docs/concepts/videos.md#captions): `en`,
 * `en-x-sdh`, `en-x-forced`, `en-x-2`.
 */
export function nameCaptions(tracks: readonly SourceCaptions[]): NamedCaptions[] {
  const languages = new Set<string>();
  const labels = new Set<string>();
  return tracks.map(({ language, title, isDefault, isForced, isSdh }) => {
    const purpose = isForced ? ['forced'] : isSdh ? ['sdh'] : [];
    const known = language ?? 'und';
    let tag = tagOf(known, purpose);
    for (let count = 2; languages.has(tag); count += 1) tag = tagOf(known, [...purpose, String(count)]);
    languages.add(tag);
    const name = language === null ? 'Captions' : languageName(language);
    const label = title ?? `${name}${isForced ? ' (forced)' : isSdh ? ' (SDH)' : ''}`;
    return { language: tag, label: uniqueLabel(label, labels), isDefault };
  });
}

function tagOf(language: string, parts: readonly string[]): string {
  return parts.length === 0 ? language : [language, 'x', ...parts].join('-');
}

function emptyNote({ streamIndex }: SourceCaptions): ProcessingNote {
  const message = `Track ${streamIndex + 1} was omitted: its subtitles cannot be read.`;
  return { code: 'CAPTIONS_LEFT_OUT', message };
}

async function publish(
  deps: ProcessingDeps,
  run: Run,
  video: VideoRow,
  { stored, notes }: { stored: readonly SourceCaption[]; notes: readonly ProcessingNote[] },
): Promise<void> {
  const { clock, store } = deps;
  const unused = new Set(stored.map(({ file }) => file));
  await commitRun(deps, run, async (tx, append, row) => {
    const now = clock.now();
    // Captions of a replacement are published when its file plays.
    if (row.replaces) {
      await updateReplacement(
        tx,
        { video_id: row.id, revision: row.revision },
        { captions: JSON.stringify(stored) },
      );
      unused.clear();
    } else {
      const { used, former } = await showSourceCaptions({ tx, append, row, now }, stored);
      for (const file of used) unused.delete(file);
      for (const file of former) unused.add(file);
    }
    const all = JSON.stringify([...row.processing_notes, ...notes]);
    const after = await updateProcessed(tx, row, { processing_notes: all, updated_at: now });
    await repository.updateProcessing(tx, row.id, row.revision, { captions_done: true });
    await completeIfLast(deps, tx, append, after);
  });
  for (const file of unused) await store.delete(keyOf(video, file));
}

function keyOf(video: VideoRow, file: string): string {
  return `${videoPrefix(video)}/captions/${file}`;
}

/** Skips the captions and records notes: processing continues, since the video is playable without them. */
export async function skipCaptions(deps: ProcessingDeps, run: Run): Promise<void> {
  const { videoId, revision } = run.payload;
  const video = await findProcessed(deps.db, videoId, revision);
  if (video === undefined) return;
  const processing = await repository.findProcessing(deps.db, video.id, revision);
  const notes = processing?.source.captions.map(emptyNote) ?? [];
  await publish(deps, run, video, { stored: [], notes });
}
