import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { centsOf, type MoneyInputValue } from '../../components/money-input.tsx';
import { linesOf, type Question, type Values, valuesOf } from './product-values.ts';

/** Less than this cannot be charged to a card. */
const MIN_PRICE_CENTS = 50;
const MAX_OPTIONS = 50;
const MAX_OPTION = 200;

export function useProductForm(product: Shape<'BookingProduct'> | null) {
  const { t } = useTranslation('booking');
  return useForm({
    initialValues: valuesOf(product),
    validate: {
      price: (price: MoneyInputValue) => {
        const cents = centsOf(price);
        return cents === null || (cents > 0 && cents < MIN_PRICE_CENTS) ? t('product.priceWrong') : null;
      },
      intakeFields: {
        options: (text: string, { intakeFields }: Values, path: string) => {
          const index = Number(path.split('.')[1]);
          return areOptionsFine(intakeFields[index], text) ? null : t('question.optionsWrong');
        },
      },
    },
  });
}

function areOptionsFine(question: Question | undefined, text: string): boolean {
  if (question?.type !== 'SELECT') return true;
  const options = linesOf(text);
  return (
    options.length > 0 &&
    options.length <= MAX_OPTIONS &&
    options.every((option) => option.length <= MAX_OPTION)
  );
}

export type ProductFields = ReturnType<typeof useProductForm>;
