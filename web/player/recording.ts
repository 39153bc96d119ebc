const SELECTOR = '.player-panel-recording';
const ASK_MS = 4000;
/** What takes longer is asked for at longer and longer distances. */
const ASKED_OFTEN = 30;
const SLOWER = 1.25;
const SLOWEST_MS = 60_000;

/**
 * Offers the recording of a broadcast that has ended as soon as there is one, and each further one of a long broadcast: the
 * page itself is asked, which the server makes with the links.
 *
 * @returns what ends it, and takes the links away.
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

/** Nothing is still being made. */
function isWhole(panel: Element): boolean {
  return panel.querySelector(`${SELECTOR}:not([data-more])`) !== null;
}

/** What is there already keeps its focus. */
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
