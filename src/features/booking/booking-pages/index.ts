/** Public pages to book a product and to manage a booking (docs/concepts/booking-pages.md). */
