import KeyDrills

extension DrillScenario {
    /// Does it, step by step. What comes of it is on the sheet.
    func perform(_ stage: DrillStage, _ sheet: DrillSheet) async throws {
        switch self {
        case .scheduledRotation: try await ScheduledRotation(stage: stage).perform(sheet)
        case .compromise: try await Compromise(stage: stage).perform(sheet)
        case .tokenLoss: try await TokenLoss(stage: stage).perform(sheet)
        case .wrongKeyImported: try await WrongKeyImported(stage: stage).perform(sheet)
        case .operatorMistake: try await OperatorMistake(stage: stage).perform(sheet)
        case .restoreFromBackupToken: try await RestoreFromBackupToken(stage: stage).perform(sheet)
        }
    }
}
