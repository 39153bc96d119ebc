import { areKeysOfPage, isUseful, SHORTCUTS, setKeysOfPage } from './keyboard-shortcuts.ts';
import type { SeekableRange } from './seekable-range.ts';

const LIST = `
<form method="dialog">
  <h2>Keyboard shortcuts</h2>
  <button class="player-close" aria-label="Close">✕</button>
</form>
<dl></dl>
<label><input type="checkbox"> Use on the whole page, not only in the player</label>`;

/** Shows the list of shortcuts above the video; Escape closes it. */
export function showKeys(reach: SeekableRange): void {
  const { stage } = reach;
  const open = stage.querySelector<HTMLDialogElement>('dialog.player-keys');
  if (open !== null) {
    open.close();
    return;
  }
  const dialog = document.createElement('dialog');
  dialog.className = 'player-keys';
  dialog.setAttribute('aria-label', 'Keyboard shortcuts');
  dialog.innerHTML = LIST;
  for (const shortcut of SHORTCUTS.filter((one) => isUseful(one, reach))) {
    const [term, text] = [document.createElement('dt'), document.createElement('dd')];
    [term.textContent, text.textContent] = [shortcut.shown, shortcut.does];
    dialog.querySelector('dl')?.append(term, text);
  }
  const box = dialog.querySelector('input');
  if (box !== null) {
    box.checked = areKeysOfPage();
    box.addEventListener('change', () => setKeysOfPage(box.checked));
  }
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
  stage.append(dialog);
  dialog.showModal();
}
