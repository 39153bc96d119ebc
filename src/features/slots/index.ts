/** When a product can be booked (docs/concepts/booking-slots.md). */
export { slotRoutes } from './routes.ts';
export { createSlots, type Slot, type SlotProduct, type Slots } from './service.ts';
