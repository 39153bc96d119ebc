import '../player/element.ts';
import { startChat } from '../chat/panel.ts';
import { formatViewerCount, localDate, localTime, MESSAGES, relativeTime } from '../player/messages.ts';
import type { Phase } from '../player/playback.ts';
import { showIssues } from './issues.ts';

const REFRESH_MS = 30_000;
const COPIED_MS = 2000;

/** Times on the viewer's clock instead of the server's UTC. */
function showTimes(): void {
  for (const element of document.querySelectorAll('time')) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    element.title = localTime(at);
    const { style } = element.dataset;
    element.textContent =
      style === 'relative' ? relativeTime(at, new Date()) : style === 'date' ? localDate(at) : localTime(at);
  }
}

function showPhase(phase: Phase): void {
  for (const badge of document.querySelectorAll<HTMLElement>('[data-badge]')) {
    if (badge.dataset.badge === 'processing') {
      badge.hidden = phase !== 'offline';
      continue;
    }
    // The server knows these two badges better than the phase does.
    const isKnownBetter = badge.dataset.badge === 'preview' || badge.dataset.badge === 'scheduled';
    if (isKnownBetter && (phase === 'offline' || badge.dataset.badge === 'preview')) continue;
    badge.dataset.badge = phase;
    badge.textContent = MESSAGES.broadcast[phase].state;
  }
  // The server rendered the start times; after a change of the phase they are outdated.
  const isOn = phase !== 'offline' && phase !== 'ended';
  if (!isOn) showViewers(0);
  for (const element of document.querySelectorAll<HTMLElement>('[data-while]')) {
    element.hidden = element.dataset.while !== (isOn ? 'on' : 'off') || phase === 'ended';
  }
}

function showViewers(count: number): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-viewers]')) {
    element.hidden = count === 0;
    element.textContent = formatViewerCount(count);
  }
}

function enableCopying(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    if (navigator.clipboard === undefined) continue;
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy ?? '');
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Not allowed';
      }
      setTimeout(() => {
        button.textContent = label;
      }, COPIED_MS);
    });
  }
}

/** Makes chapter links seek in place; without scripts they reload the page. */
function enableSeeking(): void {
  const player = document.querySelector('marquee-player');
  for (const link of document.querySelectorAll<HTMLElement>('a[data-seek]')) {
    link.addEventListener('click', (event) => {
      if (player?.seek(Number(link.dataset.seek)) !== true) return;
      event.preventDefault();
      player.scrollIntoView({ block: 'nearest' });
    });
  }
}

showTimes();
setInterval(showTimes, REFRESH_MS);
document.addEventListener('marquee-phase', (event) => {
  if (event instanceof CustomEvent) showPhase(event.detail);
});
document.addEventListener('marquee-viewers', (event) => {
  if (event instanceof CustomEvent) showViewers(event.detail);
});
enableCopying();
enableSeeking();
showIssues();
startChat();
