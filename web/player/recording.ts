const SELECTOR = '.player-panel-recording';
const ASK_MS = 4000;
const ASKED_MAX = 30;

/**
 * Offers the recording of a broadcast that has ended as soon as there is one: the page itself is asked, which the
 * server makes with the link to it.
 *
 * @returns what ends it, and takes the link away.
 */
export function offerRecording(panel: Element): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  let isOver = false;

  const ask = async () => {
    const link = await findLink().catch(() => null);
    if (isOver) return;
    if (link === null) return later();
    panel.append(document.importNode(link, true));
  };
  const later = () => {
    if (asked++ >= ASKED_MAX) return;
    // Spread, as many see the same end.
    timer = setTimeout(() => void ask(), ASK_MS * (0.5 + Math.random()));
  };
  if (panel.querySelector(SELECTOR) === null) later();
  return () => {
    isOver = true;
    clearTimeout(timer);
    panel.querySelector(SELECTOR)?.remove();
  };
}

async function findLink(): Promise<Element | null> {
  const answer = await fetch(location.href, { cache: 'no-store' });
  if (!answer.ok) return null;
  return new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector(SELECTOR);
}
