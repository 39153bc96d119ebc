/** Numbers of running purchases of a creator's customers. */
export interface OutstandingSales {
  soldSubscriptions: number;
  comingBookings: number;
  /** Buyers of tiers and videos with a payment in progress. */
  payingBuyers: number;
}

/** Numbers of running commitments of the person. */
export interface OwnCommitments {
  teamMembers: number;
  boughtSubscriptions: number;
  bookedTimes: number;
  ownPayments: number;
  isLastAdmin: boolean;
}

/** Describes the running commitments and how to end each. */
export function describeOutstandingSales(running: OutstandingSales): string[] {
  return counted([
    [running.soldSubscriptions, 'subscriptions of your members (end them in Monetization)'],
    [running.comingBookings, 'upcoming bookings (cancel them in Booking)'],
    [running.payingBuyers, 'checkouts in progress (wait half an hour)'],
  ]);
}

/** Describes the running commitments and how to end each. */
export function describeOwnCommitments(running: OwnCommitments): string[] {
  const names = counted([
    [running.teamMembers, 'members of your team (remove them in Team)'],
    [running.boughtSubscriptions, 'subscriptions to other creators (end them on their member pages)'],
    [running.bookedTimes, 'bookings with other creators (cancel them with the links in the emails)'],
    [running.ownPayments, 'payments to other creators in progress (cancel them, or wait half an hour)'],
  ]);
  if (running.isLastAdmin) names.push('the only administrator of this platform (appoint another one)');
  return names;
}

function counted(lines: readonly (readonly [count: number, what: string])[]): string[] {
  return lines.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
}

/**
 * Returns the storage key of an export, below the files of the workspace, so that it is deleted with them.
 */
export function exportKey(workspaceId: string, id: string): string {
  return `${exportFolder(workspaceId)}${id}.zip`;
}

/** Returns the storage prefix of exports, with a trailing slash. */
export function exportFolder(workspaceId: string): string {
  return `w/${workspaceId}/exports/`;
}
