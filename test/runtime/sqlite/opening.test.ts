/** @node all */
import { existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { makeDirectory } from '../../../runtime/sqlite/opening.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'

const directory = directoryForEachTest()

test('missing directories are created, and the topmost is returned', () => {
  const deep = join(directory(), 'a/b/c')
  expect(makeDirectory(deep, { mode: 0o700 })).toBe(join(directory(), 'a'))
  for (const made of ['a', 'a/b', 'a/b/c']) {
    expect(statSync(join(directory(), made)).mode & 0o777).toBe(0o700)
  }
  expect(makeDirectory(deep)).toBeUndefined()
  expect(makeDirectory(join(directory(), 'a/b/d'))).toBe(join(directory(), 'a/b/d'))
})

test('an error names a directory that cannot be created, even where Node’s mkdir never returns', () => {
  writeFileSync(join(directory(), 'file'), '')
  symlinkSync(join(directory(), 'nowhere'), join(directory(), 'link'))
  const [file, link] = [join(directory(), 'file'), join(directory(), 'link')]
  const long = join(directory(), 'new/x', 'a'.repeat(300))
  for (const [refused, reason] of [
    ['/proc/x', "ENOENT: no such file or directory, mkdir '/proc/x'"],
    ['/proc/x/y', "ENOENT: no such file or directory, mkdir '/proc/x'"],
    [file, `${file} is not a folder`],
    [join(file, 'x'), `${file} is not a folder`],
    [link, `${link} is not a folder`],
    [long, `ENAMETOOLONG: name too long, mkdir '${long}'`],
  ] as const) {
    expect(() => makeDirectory(refused)).toThrow(
      `the folder ${refused} cannot be created (${reason}): choose another one`,
    )
  }
  expect(existsSync(join(directory(), 'new'))).toBe(false)
})
