import './book.css';

// Offers the zone of the browser where times are shown in another one. Without a script it is chosen from the list.
const offer = document.querySelector<HTMLAnchorElement>('a[data-own-zone]');
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const choices = document.querySelector<HTMLSelectElement>('select[name="zone"]');
const isKnown = choices !== null && [...choices.options].some(({ value }) => value === own);
if (offer !== null && isKnown && offer.dataset.ownZone !== own) {
  const address = new URL(location.href);
  address.searchParams.set('zone', own);
  // The same day elsewhere may be another one.
  address.searchParams.delete('day');
  address.hash = 'when';
  offer.href = address.href;
  offer.textContent = `Show times in ${own}`;
  offer.hidden = false;
}
