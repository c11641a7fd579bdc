import Testing
import TransparencyLog

@Suite("Merkle trees")
struct MerkleTests {
    @Test("The roots match the test vectors of Certificate Transparency")
    func roots() throws {
        let vectors = try Vectors.tree()
        var tree = AppendOnlyTree()
        #expect(tree.root == (try hash(vectors.roots[0])))
        for (leaf, root) in zip(vectors.leaves, vectors.roots.dropFirst()) {
            tree.append(.leaf(try bytes(hexadecimal: leaf)))
            #expect(tree.root == (try hash(root)))
        }
        #expect(tree.size == 8)
    }

    @Test("Inclusion proofs match RFC 6962")
    func inclusion() throws {
        let vectors = try Vectors.tree()
        let prover = Self.prover(over: try vectors.leaves.map { .leaf(try bytes(hexadecimal: $0)) })
        for vector in vectors.inclusion {
            let hashes = try vector.hashes.map { try hash($0) }
            #expect(prover.inclusion(of: vector.index, size: vector.size)?.hashes == hashes)
        }
    }

    @Test("Consistency proofs match RFC 6962")
    func consistency() throws {
        let vectors = try Vectors.tree()
        let prover = Self.prover(over: try vectors.leaves.map { .leaf(try bytes(hexadecimal: $0)) })
        for vector in vectors.consistency {
            let hashes = try vector.hashes.map { try hash($0) }
            #expect(prover.consistency(from: vector.old, to: vector.new)?.hashes == hashes)
        }
    }

    @Test("An inclusion proof exists for every leaf of every size and matches nothing else")
    func everyInclusion() throws {
        let leaves = Self.leaves(70)
        let roots = Self.roots(of: leaves)
        let prover = Self.prover(over: leaves)
        for size in 1...70 {
            for index in 0..<size {
                let proof = try #require(prover.inclusion(of: index, size: size))
                #expect(proof.verify(leaf: leaves[index], root: roots[size]))
                #expect(!proof.verify(leaf: leaves[(index + 1) % 70], root: roots[size]))
                #expect(!proof.verify(leaf: leaves[index], root: roots[size - 1]))
                for other in [index - 1, index + 1, -1, size] where other != index {
                    let moved = InclusionProof(index: other, size: size, hashes: proof.hashes)
                    #expect(!moved.verify(leaf: leaves[index], root: roots[size]))
                }
                for hashes in Self.spoiled(proof.hashes) {
                    let spoiled = InclusionProof(index: index, size: size, hashes: hashes)
                    #expect(!spoiled.verify(leaf: leaves[index], root: roots[size]))
                }
            }
        }
    }

    @Test("An inclusion proof fails for a tree size with another path length", arguments: [1, 5, 8, 33, 64])
    func otherSize(_ size: Int) throws {
        let leaves = Self.leaves(70)
        let root = Self.roots(of: leaves)[size]
        let proof = try #require(Self.prover(over: leaves).inclusion(of: 0, size: size))
        for other in [0, -1, size * 2 + 1, size / 2, Int.max] {
            #expect(!InclusionProof(index: 0, size: other, hashes: proof.hashes).verify(leaf: leaves[0], root: root))
        }
    }

    @Test("A consistency proof exists between any two sizes and matches nothing else")
    func everyConsistency() throws {
        let leaves = Self.leaves(70)
        let roots = Self.roots(of: leaves)
        let prover = Self.prover(over: leaves)
        for new in 0...70 {
            for old in 0...new {
                let proof = try #require(prover.consistency(from: old, to: new))
                #expect(proof.verify(oldRoot: roots[old], newRoot: roots[new]))
                #expect(!proof.verify(oldRoot: roots[(old + 1) % 71], newRoot: roots[new]))
                if old > 0 { #expect(!proof.verify(oldRoot: roots[old], newRoot: roots[(new + 1) % 71])) }
                for hashes in Self.spoiled(proof.hashes) {
                    let spoiled = ConsistencyProof(oldSize: old, newSize: new, hashes: hashes)
                    #expect(!spoiled.verify(oldRoot: roots[old], newRoot: roots[new]))
                }
            }
        }
    }

    @Test("A consistency proof fails between other sizes")
    func otherSizes() throws {
        let roots = Self.roots(of: Self.leaves(70))
        let proof = try #require(Self.prover(over: Self.leaves(70)).consistency(from: 21, to: 70))
        let others = [(20, 70), (22, 70), (21, 64), (21, 200), (70, 21), (-1, 70), (0, 70), (70, 70), (1, Int.max)]
        for (old, new) in others {
            let moved = ConsistencyProof(oldSize: old, newSize: new, hashes: proof.hashes)
            #expect(!moved.verify(oldRoot: roots[21], newRoot: roots[70]), "\(old) to \(new)")
        }
    }

    @Test("The prover returns nil for leaves and sizes that the tree lacks")
    func outside() {
        let prover = Self.prover(over: Self.leaves(7))
        #expect(prover.inclusion(of: 7, size: 7) == nil)
        #expect(prover.inclusion(of: -1, size: 7) == nil)
        #expect(prover.inclusion(of: 0, size: 0) == nil)
        #expect(prover.consistency(from: 7, to: 6) == nil)
        #expect(prover.consistency(from: -1, to: 6) == nil)
    }

    @Test("Appending a perfect subtree equals appending its leaves, at aligned positions only")
    func subtrees() {
        let leaves = Self.leaves(70)
        let roots = Self.roots(of: leaves)
        for size in 0...64 {
            for height in 0...3 {
                var tree = Self.tree(of: leaves.prefix(size))
                let count = min(1 << height, 70 - size)
                let subtree = Self.tree(of: leaves[size..<size + count]).root
                let fits = size.isMultiple(of: 1 << height)
                let isAppended = tree.append(perfectSubtree: subtree, height: height)
                #expect(isAppended == fits)
                if count == 1 << height { #expect(tree.root == roots[fits ? size + count : size]) }
            }
        }
        var tree = AppendOnlyTree()
        for height in [-1, 62, 64] {
            let isAppended = tree.append(perfectSubtree: .empty, height: height)
            #expect(!isAppended)
        }
        #expect(tree.size == 0)
    }

    @Test("Appending another tree succeeds at aligned positions only")
    func trees() {
        let leaves = Self.leaves(70)
        let roots = Self.roots(of: leaves)
        for (size, count) in [(0, 13), (16, 13), (16, 16), (32, 31), (5, 1), (6, 2), (8, 0), (3, 0)] {
            var tree = Self.tree(of: leaves.prefix(size))
            let fits = tree.append(Self.tree(of: leaves[size..<size + count]))
            #expect(fits)
            #expect(tree.root == roots[size + count])
        }
        var tree = Self.tree(of: leaves.prefix(12))
        let fits = tree.append(Self.tree(of: leaves[12..<20]))
        #expect(!fits)
        #expect(tree.root == roots[12])
    }

    // MARK: A tree by the recursive definition

    private static func leaves(_ count: Int) -> [MerkleHash] { (0..<count).map { .leaf([UInt8($0), 0x2A]) } }

    private static func tree(of leaves: ArraySlice<MerkleHash>) -> AppendOnlyTree {
        var tree = AppendOnlyTree()
        for leaf in leaves { tree.append(leaf) }
        return tree
    }

    /// Indexed by size, from 0.
    private static func roots(of leaves: [MerkleHash]) -> [MerkleHash] {
        (0...leaves.count).map { root(of: leaves.prefix($0)) }
    }

    private static func root(of leaves: ArraySlice<MerkleHash>) -> MerkleHash {
        guard let first = leaves.first else { return .empty }
        guard leaves.count > 1 else { return first }
        var count = 1
        while count * 2 < leaves.count { count *= 2 }
        return .node(root(of: leaves.prefix(count)), root(of: leaves.dropFirst(count)))
    }

    private static func prover(over leaves: [MerkleHash]) -> MerkleProver<Never> {
        MerkleProver { subtree in root(of: leaves[subtree.leaves]) }
    }

    /// The hashes with one removed, one added, or one changed.
    private static func spoiled(_ hashes: [MerkleHash]) -> [[MerkleHash]] {
        var all = [hashes + [.empty]]
        if !hashes.isEmpty { all += [Array(hashes.dropLast()), Array(hashes.dropFirst())] }
        for position in hashes.indices {
            var copy = hashes
            copy[position] = .empty
            all.append(copy)
        }
        return all
    }
}
