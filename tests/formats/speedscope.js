// SPDX-License-Identifier: BSD-2-Clause
// speedscope.js MODULES FILE...: each file as speedscope of the npm package reads it, a line of JSON for each: [{name, unit, stacks: [[names, value]]}], or
// {error}. The package is one script for a page. It is run here without one: its drawing fails, and its importers, which it keeps in an object whose
// properties have their names, are there.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

function load(folder) {
    const found = [];
    const sandbox = {
        console: {log() {}, warn() {}, error() {}}, TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout, atob, btoa,
        navigator: {userAgent: 'node', platform: 'Linux'}, location: {hash: '', href: '', search: ''},
        requestAnimationFrame() {}, addEventListener() {}, found,
    };
    sandbox.window = sandbox.self = sandbox.globalThis = sandbox;
    sandbox.document = {createElement: () => ({style: {}, setAttribute() {}, appendChild() {}}), addEventListener() {}, body: {}, head: {appendChild() {}}, fonts: {}};
    sandbox.matchMedia = () => ({matches: false, addListener() {}, addEventListener() {}});
    vm.createContext(sandbox);
    vm.runInContext('{const real = Object.defineProperty; Object.defineProperty = function (o, name, what) {' +
        'if (name === "importProfilesFromArrayBuffer") found.push(o); return real(o, name, what); }}', sandbox);
    const release = path.join(folder, 'speedscope', 'dist', 'release');
    const script = fs.readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name));
    try {
        vm.runInContext(fs.readFileSync(path.join(release, script), 'utf8'), sandbox);
    } catch (e) {
        // the page that is not there
    }
    return new Promise(done => setImmediate(() => done(found[0])));
}

function stacks(profile) {
    const all = [];
    const go = (node, above) => {
        const names = node.isRoot() ? [] : above.concat([node.frame.name]);
        if (node.getSelfWeight() > 0) {
            all.push([names, node.getSelfWeight()]);
        }
        node.children.forEach(child => go(child, names));
    };
    go(profile.getAppendOrderCalltreeRoot(), []);
    return all;
}

async function main() {
    const [, , modules, ...files] = process.argv;
    const importers = await load(modules);
    for (const file of files) {
        const bytes = fs.readFileSync(file);
        const copy = new Uint8Array(bytes).buffer;
        try {
            const group = await importers.importProfilesFromArrayBuffer(path.basename(file), copy);
            console.log(JSON.stringify(group.profiles.map(p => ({name: p.getName(), unit: p.getWeightUnit(), stacks: stacks(p)}))));
        } catch (e) {
            console.log(JSON.stringify({error: String(e)}));
        }
    }
}

main();
