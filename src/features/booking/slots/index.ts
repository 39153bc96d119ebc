/** When a product can be booked (docs/concepts/booking-availability.md#slots). */
export { slotRoutes } from './routes.ts';
export { createSlots, type Slot, type SlotProduct, type Slots } from './service.ts';
