const SELECTOR = '.player-panel-recording';
const ASK_MS = 4000;
/** Number of polls after which the interval grows. */
const ASKED_OFTEN = 30;
const SLOWER = 1.25;
const SLOWEST_MS = 60_000;

/**
 * Shows the recording of an ended broadcast once it exists, and each further part of a long broadcast, by
 * polling the page, which the server renders with the links.
 */
export function showRecordingLink(panel: Element): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  let isOver = false;

  const ask = async () => {
    const found = document.hidden ? null : await findLinks().catch(() => null);
    if (isOver) return;
    if (found !== null) offer(panel, found);
    later();
  };
  const later = () => {
    if (isWhole(panel)) return;
    const ms = Math.min(SLOWEST_MS, ASK_MS * SLOWER ** Math.max(0, asked - ASKED_OFTEN));
    asked += 1;
    // Spread, as many see the same end.
    timer = setTimeout(() => void ask(), ms * (0.5 + Math.random()));
  };
  later();
  return () => {
    isOver = true;
    clearTimeout(timer);
    panel.querySelector(SELECTOR)?.remove();
  };
}

/** Reports whether no recording is being processed. */
function isWhole(panel: Element): boolean {
  return panel.querySelector(`${SELECTOR}:not([data-more])`) !== null;
}

/** Replaces the offer, unless it is unchanged, so that it keeps the focus. */
function offer(panel: Element, found: Element): void {
  const known = panel.querySelector(SELECTOR);
  if (known?.outerHTML === found.outerHTML) return;
  known?.remove();
  panel.append(document.importNode(found, true));
}

async function findLinks(): Promise<Element | null> {
  const answer = await fetch(location.href, { cache: 'no-store' });
  if (!answer.ok) return null;
  return new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector(SELECTOR);
}
