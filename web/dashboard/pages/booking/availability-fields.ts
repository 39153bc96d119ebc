import { useForm } from '@mantine/form';
import type { Shape } from '../../app/shape.ts';
import { valuesOf } from './availability-values.ts';

export function useAvailabilityForm(availability: Shape<'BookingAvailability'>) {
  return useForm({ initialValues: valuesOf(availability) });
}

export type AvailabilityFields = ReturnType<typeof useAvailabilityForm>;
