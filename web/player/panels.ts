import type { Panel, SeekableRange } from './seekable-range.ts';

/** Shows it over the picture, or takes it away. Its code is loaded when somebody wants it. */
export async function openPanel(panel: Panel, reach: SeekableRange): Promise<void> {
  if (panel === 'stats') (await import('./stats.ts')).toggleStats(reach);
  else (await import('./keys-list.ts')).showKeys(reach);
}
