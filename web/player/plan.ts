const ASK_MS = 60_000;

/** Polls the page for the announced start of a broadcast, which the server renders as `starts-at`. */
export function followPlan(player: Element): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const ask = async () => {
    const planned = document.hidden ? undefined : await findStart().catch(() => undefined);
    if (isOver) return;
    if (planned === null) player.removeAttribute('starts-at');
    else if (planned !== undefined) player.setAttribute('starts-at', planned);
    later();
  };
  const later = () => {
    // Spread, as many wait for the same start.
    timer = setTimeout(() => void ask(), ASK_MS * (0.5 + Math.random()));
  };
  later();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Loads the announced start: null when none is announced; undefined when it is unknown. */
async function findStart(): Promise<string | null | undefined> {
  const answer = await fetch(location.href, { cache: 'no-store' });
  if (!answer.ok) return undefined;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  return page.querySelector('marquee-player')?.getAttribute('starts-at');
}
