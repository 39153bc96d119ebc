import './book.css';

// Offers the browser's time zone on pages that show times in another one. Without scripts, it is selected
// from the list.
const offer = document.querySelector<HTMLAnchorElement>('a[data-own-zone]');
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const choices = document.querySelector<HTMLSelectElement>('select[name="zone"]');
const isKnown = choices !== null && [...choices.options].some(({ value }) => value === own);
if (offer !== null && isKnown && offer.dataset.ownZone !== own) {
  const address = new URL(location.href);
  address.searchParams.set('zone', own);
  // The selected day can be a different one in the new time zone.
  address.searchParams.delete('day');
  address.hash = 'when';
  offer.href = address.href;
  offer.textContent = `Show times in ${own}`;
  offer.hidden = false;
}
