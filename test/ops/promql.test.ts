import { expect, test } from '@jest/globals'
import { groupingLabelsIn, selectorsIn } from './promql.ts'

const expression = `
  histogram_quantile(0.99, sum by (le, route) (rate(a_seconds_bucket{route=~"/x|b{c}", code!="5"}[$__rate_interval])))
    > 1 and on (instance) max(b_total offset 15m) or c`

test('metrics are told from functions, labels, texts and durations', () => {
  expect(selectorsIn(expression)).toEqual([
    { metric: 'a_seconds_bucket', labels: ['route', 'code'] },
    { metric: 'b_total', labels: [] },
    { metric: 'c', labels: [] },
  ])
})

test('labels that are grouped or joined by are found', () => {
  expect(groupingLabelsIn(expression)).toEqual(['le', 'route', 'instance'])
})
