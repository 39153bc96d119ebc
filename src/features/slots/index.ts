/** When a product can be booked (docs/api/booking-slots.md). */
export { slotRoutes } from './routes.ts';
export { createSlots, type Slot, type SlotProduct, type Slots } from './service.ts';
