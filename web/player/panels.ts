import type { Panel, SeekableRange } from './seekable-range.ts';

/** Opens the panel above the video, or closes it. Its code is loaded on demand. */
export async function openPanel(panel: Panel, reach: SeekableRange): Promise<void> {
  if (panel === 'stats') (await import('./stats.ts')).toggleStats(reach);
  else (await import('./keys-list.ts')).showKeys(reach);
}
